-- Hashes, addresses and texts that had no codec. ZSTD halves a hexadecimal hash, which LZ4 cannot; as 32 bytes it would take
-- a tenth less again, and every read and insert would have to convert it. Only parts that are written or merged from now on
-- are smaller.
ALTER TABLE dex_fills
    MODIFY COLUMN maker CODEC(ZSTD(1)),
    MODIFY COLUMN taker CODEC(ZSTD(1));

ALTER TABLE dex_order_ends
    MODIFY COLUMN maker CODEC(ZSTD(1)),
    MODIFY COLUMN reason CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE dex_order_flips
    MODIFY COLUMN maker CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE dex_orders
    MODIFY COLUMN maker CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE dex_pairs
    MODIFY COLUMN base CODEC(ZSTD(1)),
    MODIFY COLUMN quote CODEC(ZSTD(1)),
    MODIFY COLUMN pair_key CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE fee_distributions
    MODIFY COLUMN validator CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE fee_elections
    MODIFY COLUMN account CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE fee_pool_events
    MODIFY COLUMN account CODEC(ZSTD(1)),
    MODIFY COLUMN recipient CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE fees_paid
    MODIFY COLUMN payer CODEC(ZSTD(1));

ALTER TABLE flows
    MODIFY COLUMN account CODEC(ZSTD(1));

ALTER TABLE held_transfers
    MODIFY COLUMN receiver CODEC(ZSTD(1)),
    MODIFY COLUMN originator CODEC(ZSTD(1)),
    MODIFY COLUMN caller CODEC(ZSTD(1)),
    MODIFY COLUMN recipient CODEC(ZSTD(1)),
    MODIFY COLUMN receipt CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE logo_updates
    MODIFY COLUMN logo_uri CODEC(ZSTD(1)),
    MODIFY COLUMN updater CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE pause_events
    MODIFY COLUMN updater CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE policy_events
    MODIFY COLUMN updater CODEC(ZSTD(1)),
    MODIFY COLUMN account CODEC(ZSTD(1)),
    MODIFY COLUMN recovery_authority CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE quote_token_proposals
    MODIFY COLUMN quote_token CODEC(ZSTD(1)),
    MODIFY COLUMN updater CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE quote_token_updates
    MODIFY COLUMN stable CODEC(ZSTD(1)),
    MODIFY COLUMN quote_token CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE reward_claims
    MODIFY COLUMN account CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE reward_distributions
    MODIFY COLUMN funder CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE reward_recipients
    MODIFY COLUMN holder CODEC(ZSTD(1)),
    MODIFY COLUMN recipient CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE role_events
    MODIFY COLUMN account CODEC(ZSTD(1)),
    MODIFY COLUMN new_admin_role CODEC(ZSTD(1)),
    MODIFY COLUMN sender CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE role_probes
    MODIFY COLUMN account CODEC(ZSTD(1));

ALTER TABLE stablecoins
    MODIFY COLUMN stable CODEC(ZSTD(1)),
    MODIFY COLUMN symbol CODEC(ZSTD(1)),
    MODIFY COLUMN name CODEC(ZSTD(1)),
    MODIFY COLUMN currency CODEC(ZSTD(1)),
    MODIFY COLUMN quote_token CODEC(ZSTD(1)),
    MODIFY COLUMN admin CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE state_reads
    MODIFY COLUMN policy_admin CODEC(ZSTD(1));

ALTER TABLE supply_events
    MODIFY COLUMN account CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

ALTER TABLE virtual_forwards
    MODIFY COLUMN sender CODEC(ZSTD(1)),
    MODIFY COLUMN virtual_address CODEC(ZSTD(1)),
    MODIFY COLUMN recipient CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));

-- Two rows a block, whose numbers and times follow each other.
ALTER TABLE ingest_batches
    MODIFY COLUMN sequence_number CODEC(Delta, ZSTD(1)),
    MODIFY COLUMN from_block CODEC(Delta, ZSTD(1)),
    MODIFY COLUMN to_block CODEC(Delta, ZSTD(1)),
    MODIFY COLUMN last_hash CODEC(ZSTD(1)),
    MODIFY COLUMN writer CODEC(ZSTD(1)),
    MODIFY COLUMN recorded_at CODEC(Delta, ZSTD(1));

ALTER TABLE job_runs
    MODIFY COLUMN error CODEC(ZSTD(1)),
    MODIFY COLUMN instance CODEC(ZSTD(1));

ALTER TABLE payments
    MODIFY COLUMN challenge_id CODEC(ZSTD(1)),
    MODIFY COLUMN claim CODEC(ZSTD(1)),
    MODIFY COLUMN credential_digest CODEC(ZSTD(1)),
    MODIFY COLUMN scope CODEC(ZSTD(1)),
    MODIFY COLUMN tx_hash CODEC(ZSTD(1));
