import { words } from './words.js'

/**
 * Table engines that keep their rows in the table's own directory or in memory, with nothing but columns as arguments.
 * Not on the list: engines that read another table (Merge, Buffer, Alias, Dictionary, Loop), files, commands or the
 * network, and those that need a keeper.
 */
export const allowedEngines: ReadonlySet<string> = new Set(
  words(`
    MergeTree ReplacingMergeTree SummingMergeTree AggregatingMergeTree CollapsingMergeTree CoalescingMergeTree
    VersionedCollapsingMergeTree Memory Null Set Join Log TinyLog StripeLog
  `),
)

/** Kinds of skipping indexes. */
export const allowedIndexes: ReadonlySet<string> = new Set(
  words('minmax set bloom_filter ngrambf_v1 tokenbf_v1 sparse_grams text vector_similarity hypothesis'),
)

/** Codecs of columns, in lower case. */
export const allowedCodecs: ReadonlySet<string> = new Set(
  words('none lz4 lz4hc zstd delta doubledelta gorilla t64 fpc gcd alp default'),
)

/**
 * What ALTER may do to a table that the user may alter. Not on the list: FREEZE and UNFREEZE, which write outside the
 * table, FETCH, EXPORT, and what changes a view.
 */
export const allowedAlterations: ReadonlySet<string> = new Set(
  words(`
    ADD_COLUMN DROP_COLUMN MODIFY_COLUMN COMMENT_COLUMN RENAME_COLUMN MATERIALIZE_COLUMN
    MODIFY_ORDER_BY MODIFY_SAMPLE_BY REMOVE_SAMPLE_BY MODIFY_TTL MATERIALIZE_TTL REMOVE_TTL
    MODIFY_SETTING RESET_SETTING MODIFY_COMMENT MODIFY_DATABASE_COMMENT
    ADD_INDEX DROP_INDEX MATERIALIZE_INDEX ADD_CONSTRAINT DROP_CONSTRAINT
    ADD_PROJECTION DROP_PROJECTION MATERIALIZE_PROJECTION
    DROP_PARTITION DROP_DETACHED_PARTITION FORGET_PARTITION ATTACH_PARTITION MOVE_PARTITION REPLACE_PARTITION
    DELETE UPDATE APPLY_DELETED_MASK APPLY_PATCHES REWRITE_PARTS
  `),
)
