/** How far a delivery has come: still to be tried, or over. */
export const DELIVERY_STATES = ['pending', 'successful', 'failed', 'canceled'] as const

/**
 * SQL over the attempts of one delivery: its state. A success stands, whatever another process made of the same attempt. A
 * delivery without attempts is pending, which is not for this to say.
 */
export const STATE_OF_ATTEMPTS = `
  multiIf(countIf(outcome = 'success') > 0, 'successful',
          countIf(next_attempt_at IS NULL AND outcome = 'failure') > 0, 'failed',
          countIf(next_attempt_at IS NULL) > 0, 'canceled',
          'pending')`

/** SQL of a number below which every delivery is over, so that who looks for others needs not look there. */
export const SETTLED_BEFORE = '(SELECT max(settled_before) FROM webhook_fan_outs)'
