-- From v3 and e3 on, risk weighs prices by the time in which they held, and extended risk has a second figure of the peg.
ALTER TABLE extended_snapshots ADD COLUMN IF NOT EXISTS shortfall_bps_24h Nullable(Decimal(18, 4)) COMMENT 'by how much less than 1 a thousand tokens sold for in the worst 2.5 % of (slot_at - 24 h, slot_at]; null before e3' CODEC(ZSTD(1)) AFTER rms_bps_24h;
ALTER TABLE extended_snapshots COMMENT COLUMN IF EXISTS rms_bps_24h 'root mean square distance from 1 over the time of (slot_at - 24 h, slot_at], before e3 over its samples; null is not known, here and below';
ALTER TABLE risk_snapshots COMMENT COLUMN IF EXISTS stddev_bps_24h 'population, of the price over time, before v3 over samples; null without a price';
ALTER TABLE risk_snapshots COMMENT COLUMN IF EXISTS max_deviation_bps_24h 'largest distance from 1 of a price that held, before v3 of a sample; null without a price';
ALTER TABLE risk_snapshots COMMENT COLUMN IF EXISTS unquoted_share_24h 'share of the measured time of (slot_at - 24 h, slot_at] without a price, before v3 of its samples or minutes; null when not measured';
