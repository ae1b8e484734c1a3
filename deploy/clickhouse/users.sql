-- Users for the parts of Plumbline on your own server, with the rights that the embedded engine gives them. Not run on a server yet.
CREATE USER plumbline_migrate IDENTIFIED BY '…';                       -- npm run migrate
GRANT ALL ON plumbline.* TO plumbline_migrate;
CREATE USER plumbline_write IDENTIFIED BY '…';                         -- npm run ingest, npm run jobs
GRANT SHOW, SELECT, dictGet, INSERT, ALTER DELETE, ALTER UPDATE, TRUNCATE, OPTIMIZE, SYSTEM VIEWS ON plumbline.* TO plumbline_write;
GRANT SELECT ON system.processes TO plumbline_write;                    -- to see that nothing runs before blocks are removed
GRANT SELECT ON system.view_refreshes TO plumbline_write;
CREATE USER plumbline_read IDENTIFIED BY '…' SETTINGS readonly = 2;    -- npm run api; not readonly with replicas
GRANT SHOW, SELECT, dictGet ON plumbline.* TO plumbline_read;
GRANT SELECT ON system.disks TO plumbline_read;                        -- for metrics only
GRANT SELECT ON system.parts TO plumbline_read;
GRANT SELECT ON system.replicas TO plumbline_read;
