-- The rule by which a window is an anomaly, and the figures of a silence. Rows that were there before were found by the
-- z-score alone: they stay as they are, as a surge or a drop, until their slot is done again.
ALTER TABLE flow_anomalies
    ADD COLUMN IF NOT EXISTS kind Enum8('surge' = 1, 'drop' = 2, 'silence' = 3)
        DEFAULT if(toInt256(bucket_count) * toInt256(observed_micros) >= toInt256(baseline_sum), 'surge', 'drop') COMMENT 'the rule',
    ADD COLUMN IF NOT EXISTS silent_windows UInt16 COMMENT 'windows without a flow up to and with this one; 0 except in a silence, as in the following',
    ADD COLUMN IF NOT EXISTS longest_silence UInt16 COMMENT 'windows in the longest silence of the week up to the last flow',
    ADD COLUMN IF NOT EXISTS usual_windows UInt16 COMMENT 'windows of that week, from the first flow of the edge on',
    ADD COLUMN IF NOT EXISTS usual_active UInt16 COMMENT 'of those, with a flow';

ALTER TABLE flow_anomalies
    ADD COLUMN IF NOT EXISTS active_mean_usd Float64 ALIAS toFloat64(baseline_sum) / observation_count / 1e6,
    ADD COLUMN IF NOT EXISTS active_stddev_usd Float64 ALIAS sqrt(toFloat64(toUInt256(observation_count) * baseline_square_sum - toUInt256(baseline_sum) * baseline_sum)) / observation_count / 1e6,
    ADD COLUMN IF NOT EXISTS silence_probability Float64 ALIAS round(pow((2 * (usual_windows - usual_active) + 1) / (2 * (usual_windows + 1)), silent_windows), 9);
