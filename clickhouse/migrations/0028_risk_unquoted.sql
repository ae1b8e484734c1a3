-- What methodology 2 of the risk score adds to its inputs. The rows of methodology 1 stay as they are: null in both.
ALTER TABLE risk_snapshots
    ADD COLUMN IF NOT EXISTS unquoted_share_24h Nullable(Decimal(7, 6)) COMMENT 'share of (slot_at - 24 h, slot_at] without a price, by samples or by minutes; null when not measured' CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS unquoted_since     Nullable(DateTime('UTC')) COMMENT 'time of the first sample since which there is no price; null while there is one' CODEC(ZSTD(1));
