#!/usr/bin/env bash
# Copies tables from one ClickHouse to another over HTTP, partition by partition: see "Backups" in README.md.
# FROM=http://127.0.0.1:8123 TO=https://… DATABASE=plumbline TABLES="blocks peg_samples …" bash copy.sh
set -euo pipefail
# final=1: of rows that replace each other only the newest, whatever has been merged yet
ask() { curl -sS --fail-with-body -K "$1.curl" "$2/?database=$DATABASE&final=1" --data-binary "$3"; }
for table in $TABLES; do
  for partition in $(ask from "$FROM" "SELECT DISTINCT _partition_id FROM $table ORDER BY 1"); do
    sum="SELECT count(), sum(cityHash64(tuple(*))) FROM $table WHERE _partition_id = '$partition'"
    there=$(ask to "$TO" "$sum")
    if [ "$there" != "$(ask from "$FROM" "$sum")" ]; then
      file="$table.$partition.parquet"
      if [ ! -e "$file" ]; then
        ask from "$FROM" "SELECT * FROM $table WHERE _partition_id = '$partition' FORMAT Parquet" >"$file.part"
        mv "$file.part" "$file"
      fi
      curl -sS --fail-with-body -K to.curl -X POST -T - -H 'Expect:' "$TO/?database=$DATABASE&query=INSERT%20INTO%20$table%20FORMAT%20Parquet&\
insert_deduplication_token=$table.$partition&deduplicate_blocks_in_dependent_materialized_views=1&\
max_insert_threads=1&input_format_parquet_preserve_order=1&async_insert=0" <"$file"
      [ "$(ask to "$TO" "$sum")" = "$(ask from "$FROM" "$sum")" ] || { echo "$table: partition $partition differs"; exit 1; }
      rm "$file"
    fi
    echo "$table $partition"
  done
done
