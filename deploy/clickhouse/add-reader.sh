# Adds the user that Grafana reads with, if its password is there. The server's own user may not create users.
password="$(cat /run/secrets/clickhouse_reader_password)"
file=/etc/clickhouse-server/users.d/plumbline-reader.xml
rm -f "$file"
if [ -z "$password" ]; then return; fi
hash="$(printf %s "$password" | sha256sum | cut -d ' ' -f 1)"
cat > "$file" <<END
<clickhouse>
    <profiles>
        <plumbline_reader><readonly>2</readonly></plumbline_reader>
    </profiles>
    <users>
        <${READER_USER}>
            <password_sha256_hex>$hash</password_sha256_hex>
            <networks><ip>::/0</ip></networks>
            <profile>plumbline_reader</profile>
            <quota>default</quota>
            <grants>
                <query>GRANT SHOW, SELECT, dictGet ON ${READER_DATABASE}.*</query>
            </grants>
        </${READER_USER}>
    </users>
</clickhouse>
END
chown clickhouse:clickhouse "$file"
