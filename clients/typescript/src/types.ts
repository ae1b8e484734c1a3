// Made from the OpenAPI document by `npm run examples`.
/** How much of what was asked for was measured, and why the rest was not */
export interface Coverage {
  /** Whether all, some or none of the data was measured */
  status: "complete" | "partial" | "unavailable";
  /** The same in plain English */
  message: string;
  /** What is missing of what was asked, oldest first; ranges do not overlap */
  missing: {
    /**
     * Time of the last block before it, or the start of what was asked
     * @format date-time
     */
    from: string;
    /**
     * Time of the first block after it, or the end of what was asked
     * @format date-time
     */
    to: string;
    /** First missing block; null if unknown */
    from_block: number | null;
    /** Last missing block; null if unknown */
    to_block: number | null;
    /** not_read: its blocks have not been read; before_history: it is before the first block that was read; unavailable: the node no longer has it; unpriced: its flows are stored without a value, because the node no longer has the prices; not_sampled: the stable was not sampled then; not_searched: it has not been searched yet */
    reason:
      | "not_read"
      | "before_history"
      | "unavailable"
      | "unpriced"
      | "not_sampled"
      | "not_searched";
  }[];
  /**
   * Number of missing ranges, including those not listed
   * @min 0
   */
  missing_count: number;
  /** Start of what was measured of what was asked; null if nothing was */
  measured_from: string | null;
  /** End of what was measured of what was asked, apart from the missing ranges; null if nothing was */
  measured_until: string | null;
}

export interface Problem {
  /** Identifies the kind of problem. A refused payment has one of MPP’s types (https://paymentauth.org/problems/…); otherwise, after urn:plumbline:problem: bad-parameter (a parameter, or a field of the body, is invalid; `errors` has all of them); bad-request (not a valid HTTP request, or the body cannot be read); bad-url (the URL is not properly encoded); invalid-key (the Authorization header does not contain a valid key); missing-key (the route requires the admin key); payment-required (the route has a price, and this service takes no payments: send a key); insufficient-funds (the payer’s account cannot pay the price and the fee; nothing was charged); forbidden (the key is valid, but not for this route); unknown-route (there is no such path); unknown-stable (the address is not a tracked stable); unknown-key (there is no key with this id); unknown-webhook (there is no subscription with this id); unknown-delivery (there is no delivery with this id); before-history (nothing is known about that time, or nothing had been published by then); method-not-allowed (the path exists, but not with this method); too-slow (the request took too long to arrive); payment-in-use (another request is using this payment; present it again later); webhook-disabled (the subscription is disabled); too-many-webhooks (the limit of subscriptions is reached); url-too-long (the URL is longer than any valid one); idempotency-key-reused (the same Idempotency-Key was sent with another request); headers-too-large (the URL and headers together are too large); too-many-requests (the limit of requests is reached; retry after `Retry-After`); too-many-invalid-keys (too many invalid keys came from this address); too-many-payments (too many payments from this address, or for this challenge, were refused); too-many-streams (the limit of open streams is reached); internal (a fault of the service; its log has the details); unavailable (the data cannot be read at the moment); overloaded (the service has more requests than it can answer); ending (this process is shutting down; another one may answer); webhooks-not-configured (the operator has not set up webhooks) */
  type: string;
  /** The status as text */
  title: string;
  /** The status of the response */
  status: number;
  /** What is wrong with this request, in plain English */
  detail: string;
  /** Path of the section of the documentation that explains it and says what to do */
  help: string;
  /** The path of the request */
  instance?: string;
  /** The first invalid parameter */
  parameter?: string;
  /** All invalid parameters */
  errors?: {
    /** Name of the parameter */
    parameter: string;
    /** What is wrong with it */
    detail: string;
  }[];
  /** With 402: the price of the request, in whole units of the currency */
  price?: string;
  /** With 402: address of the stable to pay with */
  currency?: string;
  /** With 402: how complete the answer is that is for sale */
  coverage?: Coverage;
}

/** Something that happened, with the data of its type */
export type Event =
  | {
      /** The same id in this list, on the stream and in webhooks; each id is announced once */
      id: string;
      /** Its position in the log; pass it as `after` to continue from here */
      sequence: number;
      /**
       * Time of the event, by the clock of the chain
       * @format date-time
       */
      occurred_at: string;
      /**
       * When this service recorded it; later than occurred_at if a detector had to catch up
       * @format date-time
       */
      recorded_at: string;
      /**
       * The same as recorded_at: an event is published when it is recorded
       * @format date-time
       */
      published_at: string;
      /** Its type */
      event: "peg_break.started";
      /** What happened */
      data: {
        /** Address */
        stable: string;
        /** mild: more than 10 bps from 1.00 for at least 5 minutes; severe: more than 50 bps for at least 1 */
        severity: "mild" | "severe";
        /** On which side of 1.00 it began */
        direction: "below" | "above";
        /**
         * Time of the first sample outside
         * @format date-time
         */
        started_at: string;
        /** Largest distance from 1.00 in basis points, so far */
        max_deviation_bps: number;
        /** Block of that sample */
        started_block: number;
        /** The largest sampled size up to which every size sold beyond the limit of the severity, on the side of direction, when the break was confirmed; 0: none. Absent if unknown */
        standing_tokens?: number;
        /** Whether standing_tokens is below 10,000: the book contradicts the price of one token. Absent if unknown */
        thin?: boolean;
      };
    }
  | {
      /** The same id in this list, on the stream and in webhooks; each id is announced once */
      id: string;
      /** Its position in the log; pass it as `after` to continue from here */
      sequence: number;
      /**
       * Time of the event, by the clock of the chain
       * @format date-time
       */
      occurred_at: string;
      /**
       * When this service recorded it; later than occurred_at if a detector had to catch up
       * @format date-time
       */
      recorded_at: string;
      /**
       * The same as recorded_at: an event is published when it is recorded
       * @format date-time
       */
      published_at: string;
      /** Its type */
      event: "peg_break.ended";
      /** What happened */
      data: {
        /** Address */
        stable: string;
        /** mild: more than 10 bps from 1.00 for at least 5 minutes; severe: more than 50 bps for at least 1 */
        severity: "mild" | "severe";
        /** On which side of 1.00 it began */
        direction: "below" | "above";
        /**
         * Time of the first sample outside
         * @format date-time
         */
        started_at: string;
        /** Largest distance from 1.00 in basis points, so far */
        max_deviation_bps: number;
        /** Block of that sample */
        started_block: number;
        /** The largest sampled size up to which every size sold beyond the limit of the severity, on the side of direction, when the break was confirmed; 0: none. Absent if unknown */
        standing_tokens?: number;
        /** Whether standing_tokens is below 10,000: the book contradicts the price of one token. Absent if unknown */
        thin?: boolean;
        /**
         * Time of the first sample back inside
         * @format date-time
         */
        ended_at: string;
        /** Block of that sample */
        ended_block: number;
        /** From started_at to ended_at */
        duration_seconds: number;
      };
    }
  | {
      /** The same id in this list, on the stream and in webhooks; each id is announced once */
      id: string;
      /** Its position in the log; pass it as `after` to continue from here */
      sequence: number;
      /**
       * Time of the event, by the clock of the chain
       * @format date-time
       */
      occurred_at: string;
      /**
       * When this service recorded it; later than occurred_at if a detector had to catch up
       * @format date-time
       */
      recorded_at: string;
      /**
       * The same as recorded_at: an event is published when it is recorded
       * @format date-time
       */
      published_at: string;
      /** Its type */
      event: "agreed_break.started";
      /** What happened */
      data: {
        /** Address */
        stable: string;
        /** mild: smoothed price more than 10 bps from 1.00 for 5 minutes; severe: more than 50 bps for 1 */
        severity: "mild" | "severe";
        /** On which side of 1.00 it began */
        direction: "below" | "above";
        /**
         * Time of the first sample whose smoothed price is outside
         * @format date-time
         */
        started_at: string;
        /** Largest distance of the agreed price from 1.00 in bps, so far */
        max_deviation_bps: number;
        /** Block of that sample */
        started_block: number;
      };
    }
  | {
      /** The same id in this list, on the stream and in webhooks; each id is announced once */
      id: string;
      /** Its position in the log; pass it as `after` to continue from here */
      sequence: number;
      /**
       * Time of the event, by the clock of the chain
       * @format date-time
       */
      occurred_at: string;
      /**
       * When this service recorded it; later than occurred_at if a detector had to catch up
       * @format date-time
       */
      recorded_at: string;
      /**
       * The same as recorded_at: an event is published when it is recorded
       * @format date-time
       */
      published_at: string;
      /** Its type */
      event: "agreed_break.ended";
      /** What happened */
      data: {
        /** Address */
        stable: string;
        /** mild: smoothed price more than 10 bps from 1.00 for 5 minutes; severe: more than 50 bps for 1 */
        severity: "mild" | "severe";
        /** On which side of 1.00 it began */
        direction: "below" | "above";
        /**
         * Time of the first sample whose smoothed price is outside
         * @format date-time
         */
        started_at: string;
        /** Largest distance of the agreed price from 1.00 in bps, so far */
        max_deviation_bps: number;
        /** Block of that sample */
        started_block: number;
        /**
         * Time of the first sample whose smoothed price is back within 7 bps (mild) or 35 bps (severe)
         * @format date-time
         */
        ended_at: string;
        /** Block of that sample */
        ended_block: number;
        /** From started_at to ended_at */
        duration_seconds: number;
      };
    }
  | {
      /** The same id in this list, on the stream and in webhooks; each id is announced once */
      id: string;
      /** Its position in the log; pass it as `after` to continue from here */
      sequence: number;
      /**
       * Time of the event, by the clock of the chain
       * @format date-time
       */
      occurred_at: string;
      /**
       * When this service recorded it; later than occurred_at if a detector had to catch up
       * @format date-time
       */
      recorded_at: string;
      /**
       * The same as recorded_at: an event is published when it is recorded
       * @format date-time
       */
      published_at: string;
      /** Its type */
      event: "peg_quote.lost";
      /** What happened */
      data: {
        /** Address */
        stable: string;
        /** Why that block has no quote: no_liquidity if nobody bought */
        status:
          | "quoted"
          | "anchor"
          | "no_liquidity"
          | "no_pair"
          | "not_usd"
          | "paused"
          | "failed"
          | "out_of_range"
          | "too_deep";
        /**
         * Time of the first block without a quote
         * @format date-time
         */
        started_at: string;
        /** That block */
        started_block: number;
      };
    }
  | {
      /** The same id in this list, on the stream and in webhooks; each id is announced once */
      id: string;
      /** Its position in the log; pass it as `after` to continue from here */
      sequence: number;
      /**
       * Time of the event, by the clock of the chain
       * @format date-time
       */
      occurred_at: string;
      /**
       * When this service recorded it; later than occurred_at if a detector had to catch up
       * @format date-time
       */
      recorded_at: string;
      /**
       * The same as recorded_at: an event is published when it is recorded
       * @format date-time
       */
      published_at: string;
      /** Its type */
      event: "peg_quote.back";
      /** What happened */
      data: {
        /** Address */
        stable: string;
        /** Why that block has no quote: no_liquidity if nobody bought */
        status:
          | "quoted"
          | "anchor"
          | "no_liquidity"
          | "no_pair"
          | "not_usd"
          | "paused"
          | "failed"
          | "out_of_range"
          | "too_deep";
        /**
         * Time of the first block without a quote
         * @format date-time
         */
        started_at: string;
        /** That block */
        started_block: number;
        /**
         * Time of the first block with a quote again
         * @format date-time
         */
        ended_at: string;
        /** Block of that sample */
        ended_block: number;
        /** From started_at to ended_at */
        duration_seconds: number;
      };
    }
  | {
      /** The same id in this list, on the stream and in webhooks; each id is announced once */
      id: string;
      /** Its position in the log; pass it as `after` to continue from here */
      sequence: number;
      /**
       * Time of the event, by the clock of the chain
       * @format date-time
       */
      occurred_at: string;
      /**
       * When this service recorded it; later than occurred_at if a detector had to catch up
       * @format date-time
       */
      recorded_at: string;
      /**
       * The same as recorded_at: an event is published when it is recorded
       * @format date-time
       */
      published_at: string;
      /** Its type */
      event: "flow_anomaly.detected";
      /** What happened */
      data: {
        /** Address of the stable sent */
        from_token: string;
        /** Address of the stable received */
        to_token: string;
        /** surge: more than usual, also for the windows with a flow; drop: less than usual; silence: no flow for longer than any silence of the week before, and improbably long */
        kind: "surge" | "drop" | "silence";
        /**
         * Start of the 15-minute window
         * @format date-time
         */
        window_start: string;
        /**
         * End of the window, not included
         * @format date-time
         */
        window_end: string;
        /**
         * Flow in the window, in USD; 0 if there was none
         * @min 0
         */
        observed_flow_usd: number;
        /**
         * Mean flow of the windows of the preceding seven days, in USD
         * @min 0
         */
        baseline_mean_usd: number;
        /**
         * Population standard deviation of the same windows, in USD
         * @min 0
         */
        baseline_stddev_usd: number;
        /** Distance of the flow from the mean in standard deviations, signed */
        z_score: number;
        /**
         * Distinct transactions in the window
         * @min 0
         */
        tx_count: number;
        /**
         * The instant for which it was found: the end of the window
         * @format date-time
         */
        detected_at: string;
        /**
         * Windows in the baseline, including those without a flow
         * @min 0
         */
        baseline_windows: number;
        /**
         * Windows in the baseline with a flow that has a USD value
         * @min 0
         */
        observations: number;
        /**
         * Mean flow of those windows, in USD
         * @min 0
         */
        active_mean_usd: number;
        /**
         * Population standard deviation of those windows, in USD
         * @min 0
         */
        active_stddev_usd: number;
        /** Of a silence: windows without a flow up to this one, included; else null */
        silent_windows: number | null;
        /** Of a silence: windows in the longest one of the week before it; else null */
        longest_silence_windows: number | null;
        /** Of a silence: its probability, if windows were independent, by the week before it; else null */
        silence_probability: number | null;
      };
    }
  | {
      /** The same id in this list, on the stream and in webhooks; each id is announced once */
      id: string;
      /** Its position in the log; pass it as `after` to continue from here */
      sequence: number;
      /**
       * Time of the event, by the clock of the chain
       * @format date-time
       */
      occurred_at: string;
      /**
       * When this service recorded it; later than occurred_at if a detector had to catch up
       * @format date-time
       */
      recorded_at: string;
      /**
       * The same as recorded_at: an event is published when it is recorded
       * @format date-time
       */
      published_at: string;
      /** Its type */
      event: "system.health_drift";
      /** What happened */
      data: {
        /** ingest, sampling, job:<name>, dataset:<blocks, logs, pegs or state> or webhook <id> */
        component: string;
        /** The new status; disabled: a webhook whose receiver has failed for days or is gone */
        status: "ok" | "behind" | "stalled" | "overdue" | "gaps" | "disabled";
        /** Blocks behind, or blocks missing from a dataset; null if not measured */
        lag_blocks: number | null;
        /** Seconds behind; null if not measured */
        lag_seconds: number | null;
        /**
         * When the monitor noticed it
         * @format date-time
         */
        detected_at: string;
      };
    }
  | {
      /** The same id in this list, on the stream and in webhooks; each id is announced once */
      id: string;
      /** Its position in the log; pass it as `after` to continue from here */
      sequence: number;
      /**
       * Time of the event, by the clock of the chain
       * @format date-time
       */
      occurred_at: string;
      /**
       * When this service recorded it; later than occurred_at if a detector had to catch up
       * @format date-time
       */
      recorded_at: string;
      /**
       * The same as recorded_at: an event is published when it is recorded
       * @format date-time
       */
      published_at: string;
      /** Its type */
      event: "event.retracted";
      /** What happened */
      data: {
        /** id of the event that is taken back */
        retracts: string;
        /** Its type */
        retracted_event:
          | "peg_break.started"
          | "peg_break.ended"
          | "agreed_break.started"
          | "agreed_break.ended"
          | "peg_quote.lost"
          | "peg_quote.back"
          | "flow_anomaly.detected"
          | "system.health_drift"
          | "event.retracted";
        /** Its stables: one, or both ends of an edge, sender first */
        stables: string[];
        /**
         * Its occurred_at
         * @format date-time
         */
        occurred_at: string;
        /**
         * Its recorded_at
         * @format date-time
         */
        recorded_at: string;
        /** not_found: it did not happen, as the chain was reorganized or blocks that were read later show; changed: it happened with other data, which an event of its own announces */
        reason: "not_found" | "changed";
        /** Its data */
        original: Partial<Record<string, any>>;
      };
    };

/** The first message of a stream */
export interface StreamReady {
  /** Position in the log behind which the stream begins */
  sequence: number;
}

/** A stable’s newest sample, as the stream has it */
export interface PegSample {
  /** Address */
  stable: string;
  /** Whether one token can be sold, and why not */
  status:
    | "quoted"
    | "anchor"
    | "no_liquidity"
    | "no_pair"
    | "not_usd"
    | "paused"
    | "failed"
    | "out_of_range"
    | "too_deep";
  /** What one token sells for, in the reference stable; null without a quote */
  price_vs_refusd: number | null;
  /** Distance of that price from 1 in basis points */
  spread_bps: number | null;
  /** What one token costs, in the reference stable */
  buy_price: number | null;
  /** Block of the sample */
  block_number: number;
  /** Time of that block, UTC, such as `2026-07-01 12:00:00+00` */
  sampled_at: string;
}

/** How long after their own time blocks (or slots of a job) were stored, over a period; null if there were none */
export interface Delay {
  /** Number of blocks or slots in the period */
  count: number;
  /** Half of them took no longer */
  p50_seconds: number | null;
  /** 99 in 100 took no longer */
  p99_seconds: number | null;
}

export interface ListStablecoinsParams {
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /** Only stables that are, or are not, on the token list of the chain */
  tier?: "listed" | "unlisted";
  /**
   * Only stables with exactly this symbol
   * @maxLength 200
   */
  symbol?: string;
  /**
   * Only stables of this currency, such as USD
   * @maxLength 200
   */
  currency?: string;
  /** Only stables whose pegs are, or are not, sampled */
  tracked?: "true" | "false";
  /**
   * Maximum number of rows in an answer
   * @min 1
   * @max 500
   * @default 500
   */
  limit?: number;
  /**
   * Where to continue: `next_cursor` of the previous page
   * @maxLength 1000
   */
  cursor?: string;
}

export interface ListStablecoinsData {
  /**
   * The requested point in time; not in live answers
   * @format date-time
   */
  as_of?: string;
  /** Those on the token list first, then the others in use, then the rest; each by symbol */
  stablecoins: {
    /** Address of the stable, in lower case */
    address: string;
    /** Symbol of the stable, as its issuer wrote it; the first 64 characters */
    symbol: string;
    /** Whether another stable that existed then has the same symbol: go by the address */
    symbol_shared: boolean;
    /** Name of the stable, as its issuer wrote it; the first 256 characters */
    name: string;
    /** What one token stands for, as its issuer wrote it, such as USD; the first 64 characters */
    currency: string;
    /** Which of the texts are cut here, because they are longer on the chain */
    truncated: ("symbol" | "name" | "currency")[];
    /** Whether it was on the token list of the chain then */
    tier: "listed" | "unlisted";
    /** Whether it was on the token list, had a pair on the exchange, or is as old as the chain. Risk and reserves are kept of these */
    in_use: boolean;
    /** null when the state was never read */
    supply: {
      /**
       * In base units: 6 decimals
       * @pattern ^-?\d+$
       */
      current: string;
      /** In base units; null when there is no cap */
      cap: string | null;
    } | null;
    /** Who may hold and send it; null when the state was never read */
    policy: {
      /** Who may send and receive: everyone, no one, listed accounts, all but listed accounts, or as several policies decide */
      type: "allow_all" | "reject_all" | "whitelist" | "blacklist" | "compound";
      /**
       * Number of the policy on the chain: 0 rejects everyone, 1 allows everyone
       * @pattern ^-?\d+$
       */
      policy_id: string;
      /** null for the two built-in policies */
      policy_admin: string | null;
      /** Whether all transfers are stopped */
      paused: boolean;
    } | null;
    /** null for a stable that has no price; coverage says why */
    peg: {
      /**
       * Price for selling one token, in the reference stable
       * @min 0
       */
      price: number;
      /**
       * Distance from 1.00 in basis points
       * @min 0
       */
      spread_bps: number;
      /** Price for buying one token, in the reference stable; null if nobody sells */
      buy_price: number | null;
      /** Height of the sampled block */
      block_number: number;
      /**
       * Time of that block: YYYY-MM-DD HH:MM:SS+00
       * @pattern ^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00$
       */
      sampled_at: string;
      /** Whether one token can be sold now, or at as_of; if not, this is the last price before it was lost */
      quoted: boolean;
      /**
       * From that block to now, or to as_of
       * @min 0
       */
      price_age_seconds: number;
    } | null;
    /** Whether the stable is quoted; null before its first sample */
    quote: {
      /** Whether one token can be sold on the exchange */
      quoted: boolean;
      /** Time of the first block since which it cannot be sold; null while it can */
      unquoted_since: string | null;
      /** true if it may have been unsellable before: the blocks before unquoted_since were not sampled */
      unquoted_since_is_bound: boolean;
    } | null;
    /** How much of what was asked for was measured, and why the rest was not */
    coverage: Coverage;
    /** Whether its peg is sampled in every block */
    tracked: boolean;
    /** Largest distance from 1.00 in the last 24 hours, in basis points; null without a price */
    max_deviation_24h_bps: number | null;
    /** Newest composite score of /risk, higher is riskier; null before the first */
    risk_score: number | null;
    /** The worst peg break that is under way; null if none was found. coverage says what was read */
    open_break: {
      /** mild: over 10 basis points; severe: over 50 */
      severity: "mild" | "severe";
      /**
       * Time of the first block outside
       * @format date-time
       */
      started_at: string;
      /** Height of that block */
      started_block: number;
    } | null;
  }[];
  /** The `cursor` of the next page; null at the end */
  next_cursor: string | null;
}

export interface GetStablecoinParams {
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface GetStablecoinData {
  /** Address of the stable, in lower case */
  address: string;
  /** Symbol of the stable, as its issuer wrote it; the first 64 characters */
  symbol: string;
  /** Whether another stable that existed then has the same symbol: go by the address */
  symbol_shared: boolean;
  /** Name of the stable, as its issuer wrote it; the first 256 characters */
  name: string;
  /** What one token stands for, as its issuer wrote it, such as USD; the first 64 characters */
  currency: string;
  /** Which of the texts are cut here, because they are longer on the chain */
  truncated: ("symbol" | "name" | "currency")[];
  /** Whether it was on the token list of the chain then */
  tier: "listed" | "unlisted";
  /** Whether it was on the token list, had a pair on the exchange, or is as old as the chain. Risk and reserves are kept of these */
  in_use: boolean;
  /** null when the state was never read */
  supply: {
    /**
     * In base units: 6 decimals
     * @pattern ^-?\d+$
     */
    current: string;
    /** In base units; null when there is no cap */
    cap: string | null;
  } | null;
  /** Who may hold and send it; null when the state was never read */
  policy: {
    /** Who may send and receive: everyone, no one, listed accounts, all but listed accounts, or as several policies decide */
    type: "allow_all" | "reject_all" | "whitelist" | "blacklist" | "compound";
    /**
     * Number of the policy on the chain: 0 rejects everyone, 1 allows everyone
     * @pattern ^-?\d+$
     */
    policy_id: string;
    /** null for the two built-in policies */
    policy_admin: string | null;
    /** Whether all transfers are stopped */
    paused: boolean;
  } | null;
  /** null for a stable that has no price; coverage says why */
  peg: {
    /**
     * Price for selling one token, in the reference stable
     * @min 0
     */
    price: number;
    /**
     * Distance from 1.00 in basis points
     * @min 0
     */
    spread_bps: number;
    /** Price for buying one token, in the reference stable; null if nobody sells */
    buy_price: number | null;
    /** Height of the sampled block */
    block_number: number;
    /**
     * Time of that block: YYYY-MM-DD HH:MM:SS+00
     * @pattern ^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00$
     */
    sampled_at: string;
    /** Whether one token can be sold now, or at as_of; if not, this is the last price before it was lost */
    quoted: boolean;
    /**
     * From that block to now, or to as_of
     * @min 0
     */
    price_age_seconds: number;
  } | null;
  /** Whether the stable is quoted; null before its first sample */
  quote: {
    /** Whether one token can be sold on the exchange */
    quoted: boolean;
    /** Time of the first block since which it cannot be sold; null while it can */
    unquoted_since: string | null;
    /** true if it may have been unsellable before: the blocks before unquoted_since were not sampled */
    unquoted_since_is_bound: boolean;
  } | null;
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /** Whether its peg is sampled in every block */
  tracked: boolean;
  /** Largest distance from 1.00 in the last 24 hours, in basis points; null without a price */
  max_deviation_24h_bps: number | null;
  /** Newest composite score of /risk, higher is riskier; null before the first */
  risk_score: number | null;
  /** The worst peg break that is under way; null if none was found. coverage says what was read */
  open_break: {
    /** mild: over 10 basis points; severe: over 50 */
    severity: "mild" | "severe";
    /**
     * Time of the first block outside
     * @format date-time
     */
    started_at: string;
    /** Height of that block */
    started_block: number;
  } | null;
  /**
   * The requested point in time; not in live answers
   * @format date-time
   */
  as_of?: string;
  /** The last ten, newest first */
  recent_supply_events: {
    /** burn_blocked: burned from an account that the policy blocks; cap: the cap changed */
    kind: "mint" | "burn" | "burn_blocked" | "cap";
    /** The receiver of a mint, the holder whose tokens were burned, or the account that set the cap */
    account: string;
    /**
     * In base units: 6 decimals; the new cap for kind cap
     * @pattern ^-?\d+$
     */
    amount: string;
    /** Height of the block */
    block_number: number;
    /** Position of the log in its block */
    log_index: number;
    /**
     * Time of the block
     * @format date-time
     */
    block_timestamp: string;
    /** Hash of the transaction */
    tx_hash: string;
  }[];
  /** The same as in the answer about roles */
  role_holders: {
    /** How the role holders are known */
    coverage: {
      /** Whether all, some or none of the data was measured */
      status: "complete" | "partial" | "unavailable";
      /** The same in plain English */
      message: string;
      /** What is missing of what was asked, oldest first; ranges do not overlap */
      missing: {
        /**
         * Time of the last block before it, or the start of what was asked
         * @format date-time
         */
        from: string;
        /**
         * Time of the first block after it, or the end of what was asked
         * @format date-time
         */
        to: string;
        /** First missing block; null if unknown */
        from_block: number | null;
        /** Last missing block; null if unknown */
        to_block: number | null;
        /** not_read: its blocks have not been read; before_history: it is before the first block that was read; unavailable: the node no longer has it; unpriced: its flows are stored without a value, because the node no longer has the prices; not_sampled: the stable was not sampled then; not_searched: it has not been searched yet */
        reason:
          | "not_read"
          | "before_history"
          | "unavailable"
          | "unpriced"
          | "not_sampled"
          | "not_searched";
      }[];
      /**
       * Number of missing ranges, including those not listed
       * @min 0
       */
      missing_count: number;
      /** Start of what was measured of what was asked; null if nothing was */
      measured_from: string | null;
      /** End of what was measured of what was asked, apart from the missing ranges; null if nothing was */
      measured_until: string | null;
      /** The roles that the token standard has */
      roles_tracked: {
        /** Name of the role */
        name: string;
        /** What it allows. Minting (ISSUER_ROLE) ends at the supply cap; BURN_BLOCKED_ROLE burns what accounts hold that the policy blocks */
        powers: string;
      }[];
    };
    /** The role holders, in the order of the tracked roles */
    roles: {
      /** Name of a known role; otherwise its 32-byte id */
      role: string;
      /** Address that holds the role */
      account: string;
      /** null for source probe: the grant has no log */
      granted_at: string | null;
      /** Height of the block of the grant; null for source probe */
      granted_block: number | null;
      /** Hash of the transaction of the grant; null for source probe */
      tx_hash: string | null;
      /** event: read from a log; probe: a call to the stable returned that the account holds the role */
      source: "event" | "probe";
    }[];
  };
}

export interface GetAnalysisParams {
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface GetAnalysisData {
  /**
   * The requested point in time; not in live answers
   * @format date-time
   */
  as_of?: string;
  /** Address of the stable, in lower case */
  address: string;
  /** Symbol of the stable, as its issuer wrote it; the first 64 characters */
  symbol: string;
  /** The briefing */
  briefing: {
    /** curated: origin, backing and issuer_context were written by an editor; measured: they are derived from the chain */
    origin_kind: "curated" | "measured";
    /** Where the stable comes from */
    origin: string;
    /** What backs it; not-stated in a measured briefing, since the chain does not record it */
    backing: string;
    /** Who issues it, and what is known about them */
    issuer_context: string;
    /** One rating for each kind of risk */
    risk: {
      /** Derived from measurements; see risk_basis */
      peg_risk: "low" | "medium" | "high" | "unrated";
      /** Derived from measurements; see risk_basis */
      policy_risk: "low" | "medium" | "high" | "unrated";
      /** Derived from measurements; see risk_basis */
      centralization_risk: "low" | "medium" | "high" | "unrated";
    };
    /** The figures that each rating follows from */
    risk_basis: {
      /** The measurements behind the rating, in words and figures */
      peg_risk: string;
      /** The measurements behind the rating, in words and figures */
      policy_risk: string;
      /** The measurements behind the rating, in words and figures */
      centralization_risk: string;
    };
    /** Empty when measured */
    sources: {
      /** What it is called */
      title: string;
      /** Where it is */
      url: string;
    }[];
    /** When the sources were last reviewed; null if measured */
    reviewed_on: string | null;
    /** When the 7 days of peg_risk end; null before the first sample */
    measured_at: string | null;
  };
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
}

export interface GetPegParams {
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface GetPegData {
  /** Address of the stable, in lower case */
  address: string;
  /**
   * The requested point in time; not in live answers
   * @format date-time
   */
  as_of?: string;
  /** The nearest sample with a price; null when there is none */
  current: {
    /**
     * Price for selling one token, in the reference stable
     * @min 0
     */
    price_vs_refusd: number;
    /**
     * Distance from 1.00 in basis points
     * @min 0
     */
    spread_bps: number;
    /** Price for buying one token, in the reference stable; null if nobody sells */
    buy_price: number | null;
    /** Height of the sampled block */
    block_number: number;
    /**
     * Time of that block: YYYY-MM-DD HH:MM:SS+00
     * @pattern ^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00$
     */
    sampled_at: string;
    /** Whether one token can be sold now, or at as_of; if not, this is the last price before it was lost */
    quoted: boolean;
    /**
     * From that block to now, or to as_of
     * @min 0
     */
    price_age_seconds: number;
  } | null;
  /** Whether the stable is quoted; null before its first sample */
  quote: {
    /** Whether one token can be sold on the exchange */
    quoted: boolean;
    /** Time of the first block since which it cannot be sold; null while it can */
    unquoted_since: string | null;
    /** true if it may have been unsellable before: the blocks before unquoted_since were not sampled */
    unquoted_since_is_bound: boolean;
  } | null;
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /** Of the last hour, day and week, in this order */
  windows: {
    /** Its length */
    window: "1h" | "24h" | "7d";
    /**
     * Samples with a price
     * @min 0
     */
    sample_count: number;
    /**
     * Samples without a price, in none of the figures below
     * @min 0
     */
    unquoted_count: number;
    /** Share of the samples that have no price, to six decimals; null without samples */
    unquoted_share: number | null;
    /** Over the samples with a price, in the reference stable; null without one */
    mean_price: number | null;
    /** Standard deviation over the samples with a price, population, in the reference stable */
    stddev_price: number | null;
    /** In the reference stable */
    min_price: number | null;
    /** In the reference stable */
    max_price: number | null;
    /** Largest distance from 1.00 in basis points */
    max_deviation_bps: number | null;
    /** Seconds that the price was more than 10 bps from 1.00 */
    seconds_outside_10bps: number | null;
    /** Seconds that the price was more than 50 bps from 1.00 */
    seconds_outside_50bps: number | null;
  }[];
  /** The instant at which the windows end: in live answers one of the last two five-minute marks */
  windows_as_of: string | null;
}

export interface GetPegAveragesParams {
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface GetPegAveragesData {
  /** Address of the stable, in lower case */
  address: string;
  /** The requested point in time; null in live answers */
  as_of: string | null;
  /**
   * The instant at which the windows end: now, or as_of
   * @format date-time
   */
  windows_as_of: string;
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /** Of the last hour, day and week, in this order */
  windows: {
    /** Its length */
    window: "1h" | "24h" | "7d";
    /** Time-weighted average price for selling one token, in the reference stable: a price holds from its block to the next one, for at most 120 seconds; null if none held */
    twap: number | null;
    /**
     * Seconds of the window in which a price held
     * @min 0
     */
    quoted_seconds: number;
    /**
     * Seconds in which the newest sample had no price; not in the average
     * @min 0
     */
    unquoted_seconds: number;
    /**
     * Seconds of which nothing is known, as no block of the last 120 seconds is in; not in the average
     * @min 0
     */
    unmeasured_seconds: number;
    /** Volume-weighted average price of the trades on its own book, in the reference stable; null without trades */
    vwap: number | null;
    /**
     * Fills of orders on its own book, without those of the taker’s own orders
     * @min 0
     */
    trade_count: number;
    /**
     * Fills of which the value is unknown, as its quote token had no price; in none of the figures
     * @min 0
     */
    unvalued_trade_count: number;
    /**
     * Tokens traded
     * @min 0
     */
    volume_tokens: number;
    /** The same in the reference stable */
    volume_usd: string;
  }[];
}

export interface ListPegEventsParams {
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /** Answers with what this service had published by then, and with nothing that it learned later; in the formats of `as_of`, which is the same instant if it is omitted. Without it, the newest revision is returned, whenever it was published */
  known_at?: string;
  /** Only peg breaks of this severity */
  severity?: "mild" | "severe";
  /**
   * Only peg breaks whose max_deviation_bps is at least this, as far as is known
   * @exclusiveMin 0
   */
  min_bps?: number;
  /**
   * Only peg breaks that have lasted at least this long, as far as is known
   * @exclusiveMin 0
   * @max 4294967295
   */
  min_seconds?: number;
  /**
   * Only peg breaks whose standing_tokens is at least this; not those of which it is unknown, nor agreed breaks
   * @exclusiveMin 0
   * @max 1000000
   */
  min_size?: number;
  /**
   * Which set of tracks. agreed: breaks of a smoothed price on which one token and 10,000 agree; mild from 10 to 7 bps, severe from 50 to 35
   * @default "published"
   */
  track?: "published" | "agreed";
  /**
   * Maximum number of rows in an answer
   * @min 1
   * @max 500
   * @default 50
   */
  limit?: number;
  /**
   * Where to continue: `next_cursor` of the previous page
   * @maxLength 1000
   */
  cursor?: string;
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface ListPegEventsData {
  /** Address of the stable, in lower case */
  address: string;
  /** Newest first */
  events: {
    /** mild: more than 10 bps from 1.00 for at least 5 minutes; severe: more than 50 bps for at least 1 */
    severity: "mild" | "severe";
    /** On which side of 1.00 it began */
    direction: "below" | "above";
    /**
     * Time of the first sample outside
     * @format date-time
     */
    started_at: string;
    /** Time of the first sample back inside; null while ongoing */
    ended_at: string | null;
    /** Seconds from the first sample outside the limit of its severity; while ongoing, until the newest sample */
    duration_seconds: number;
    /** Largest distance from 1.00 in basis points, so far */
    max_deviation_bps: number;
    /** Height of the first block outside */
    started_block: number;
    /** Height of the first block back inside; null while ongoing */
    ended_block: number | null;
    /** Whether it is ongoing; if the stable is no longer sampled, whether it was at the last sample (coverage.missing) */
    ongoing: boolean;
    /** The largest sampled size up to which every size sold beyond the limit, on the side of direction, when the break was confirmed; 0: none. null: not measured, or an agreed break */
    standing_tokens: number | null;
    /** Whether standing_tokens is below 10,000: the book contradicts the price of one token. null if that is unknown */
    thin: boolean | null;
    /** When the newest event about it was published, which is long after it if a backfill found it; null if none was, or if it was taken back and is not announced again yet */
    published_at: string | null;
  }[];
  /** Start of what has been searched; null before the first search */
  searched_from: string | null;
  /** End of what has been searched; null before the first search. Breaks that were confirmed in that time are in the answer from searched_from on, apart from the missing ranges of coverage */
  searched_until: string | null;
  /** Nothing is missing from searched_from to here: an answer without results means that there were none in that time; null if something is missing at its start */
  complete_until: string | null;
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /**
   * The requested time of knowledge; only if it was requested
   * @format date-time
   */
  known_at?: string;
  /** The `cursor` of the next page; null at the end */
  next_cursor: string | null;
}

export interface ListAllPegEventsParams {
  /** Start of the time, in the formats of `as_of`; 24 hours before now or `as_of` if omitted */
  from?: string;
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /** Only peg breaks of this severity */
  severity?: "mild" | "severe";
  /**
   * Only peg breaks whose max_deviation_bps is at least this, as far as is known
   * @exclusiveMin 0
   */
  min_bps?: number;
  /**
   * Only peg breaks that have lasted at least this long, as far as is known
   * @exclusiveMin 0
   * @max 4294967295
   */
  min_seconds?: number;
  /**
   * Only peg breaks whose standing_tokens is at least this; not those of which it is unknown, nor agreed breaks
   * @exclusiveMin 0
   * @max 1000000
   */
  min_size?: number;
  /**
   * Which set of tracks. agreed: breaks of a smoothed price on which one token and 10,000 agree; mild from 10 to 7 bps, severe from 50 to 35
   * @default "published"
   */
  track?: "published" | "agreed";
  /**
   * Maximum number of rows in an answer
   * @min 1
   * @max 500
   * @default 50
   */
  limit?: number;
  /**
   * Where to continue: `next_cursor` of the previous page
   * @maxLength 1000
   */
  cursor?: string;
}

export interface ListAllPegEventsData {
  /** Those in progress at some time from `from` on, newest first */
  events: {
    /** Address of the stable, in lower case */
    address: string;
    /** Symbol of the stable, as its issuer wrote it; the first 64 characters */
    symbol: string;
    /** Whether another stable that existed then has the same symbol: go by the address */
    symbol_shared: boolean;
    /** mild: more than 10 bps from 1.00 for at least 5 minutes; severe: more than 50 bps for at least 1 */
    severity: "mild" | "severe";
    /** On which side of 1.00 it began */
    direction: "below" | "above";
    /**
     * Time of the first sample outside
     * @format date-time
     */
    started_at: string;
    /** Time of the first sample back inside; null while ongoing */
    ended_at: string | null;
    /** Seconds from the first sample outside the limit of its severity; while ongoing, until the newest sample */
    duration_seconds: number;
    /** Largest distance from 1.00 in basis points, so far */
    max_deviation_bps: number;
    /** Height of the first block outside */
    started_block: number;
    /** Height of the first block back inside; null while ongoing */
    ended_block: number | null;
    /** Whether it is ongoing; if the stable is no longer sampled, whether it was at the last sample (coverage.missing) */
    ongoing: boolean;
    /** The largest sampled size up to which every size sold beyond the limit, on the side of direction, when the break was confirmed; 0: none. null: not measured, or an agreed break */
    standing_tokens: number | null;
    /** Whether standing_tokens is below 10,000: the book contradicts the price of one token. null if that is unknown */
    thin: boolean | null;
    /** When the newest event about it was published, which is long after it if a backfill found it; null if none was, or if it was taken back and is not announced again yet */
    published_at: string | null;
  }[];
  /** Start of what has been searched; null before the first search */
  searched_from: string | null;
  /** End of what has been searched; null before the first search. Breaks that were confirmed in that time are in the answer from searched_from on, apart from the missing ranges of coverage */
  searched_until: string | null;
  /** Nothing is missing from searched_from to here: an answer without results means that there were none in that time; null if something is missing at its start */
  complete_until: string | null;
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /** The `cursor` of the next page; null at the end */
  next_cursor: string | null;
}

export interface GetIssuanceParams {
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface GetIssuanceData {
  /** Address of the stable, in lower case */
  address: string;
  /** The requested point in time; null in live answers */
  as_of: string | null;
  /**
   * The instant at which the windows end
   * @format date-time
   */
  windows_as_of: string;
  /** Of the last 24 hours, 7 days and 30 days, in this order */
  windows: {
    /** Its length; it ends at windows_as_of */
    window: "24h" | "7d" | "30d";
    /** In base units: 6 decimals; null if nothing of the window was measured */
    minted: string | null;
    /** The same in whole tokens */
    minted_tokens: number | null;
    /** The same in per cent of supply_at_start; null if that is null or 0 */
    minted_pct: number | null;
    /** In base units, with what was burned from blocked accounts */
    burned: string | null;
    /** The same in whole tokens */
    burned_tokens: number | null;
    /** The same in per cent of supply_at_start; null if that is null or 0 */
    burned_pct: number | null;
    /** Minted minus burned, in base units */
    net_issuance: string | null;
    /** The same in whole tokens */
    net_issuance_tokens: number | null;
    /** The same in per cent of supply_at_start; null if that is null or 0 */
    net_issuance_pct: number | null;
    /**
     * Number of mints
     * @min 0
     */
    mint_count: number;
    /**
     * Number of burns
     * @min 0
     */
    burn_count: number;
    /** Supply when the window began, in base units; 0 before the stable was made; null if it was not measured */
    supply_at_start: string | null;
    /** The same in whole tokens */
    supply_at_start_tokens: number | null;
    /** Height of the block at which that supply was read; null if it was not, or before the stable was made */
    supply_block_number: number | null;
    /** How much of what was asked for was measured, and why the rest was not */
    coverage: Coverage;
  }[];
  /** Whether far more is burned than usual */
  burn_surge: {
    /** What was burned in the last 24 hours, divided by the mean of a day of the baseline; null without a baseline, or if nothing was burned in it */
    ratio: number | null;
    /**
     * Days of the 30 before the last 24 hours that were measured as a whole
     * @min 0
     * @max 30
     */
    baseline_days: number;
    /** What was burned in these days, in base units; null without any */
    baseline_burned: string | null;
    /** The mean of these days, in whole tokens; null without any */
    baseline_daily_tokens: number | null;
  };
  /** Top ten mints of the last 30 days, descending; of equal ones the newest first */
  largest_mints: {
    /** burn_blocked: burned from an account that the policy blocks */
    kind: "mint" | "burn" | "burn_blocked";
    /** The receiver of a mint, or the holder whose tokens were burned */
    account: string;
    /**
     * In base units: 6 decimals
     * @pattern ^-?\d+$
     */
    amount: string;
    /** Height of the block */
    block_number: number;
    /** Position of the log in its block */
    log_index: number;
    /**
     * Time of the block
     * @format date-time
     */
    block_timestamp: string;
    /** Hash of the transaction */
    tx_hash: string;
    /**
     * The same in whole tokens
     * @min 0
     */
    amount_tokens: number;
    /** Who owns the address, if known */
    label: string | null;
  }[];
  /** Top ten burns of the last 30 days, likewise */
  largest_burns: {
    /** burn_blocked: burned from an account that the policy blocks */
    kind: "mint" | "burn" | "burn_blocked";
    /** The receiver of a mint, or the holder whose tokens were burned */
    account: string;
    /**
     * In base units: 6 decimals
     * @pattern ^-?\d+$
     */
    amount: string;
    /** Height of the block */
    block_number: number;
    /** Position of the log in its block */
    log_index: number;
    /**
     * Time of the block
     * @format date-time
     */
    block_timestamp: string;
    /** Hash of the transaction */
    tx_hash: string;
    /**
     * The same in whole tokens
     * @min 0
     */
    amount_tokens: number;
    /** Who owns the address, if known */
    label: string | null;
  }[];
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
}

export interface GetHoldersParams {
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /**
   * Length of the window of activity
   * @default "24h"
   */
  window?: "24h" | "7d" | "30d";
  /**
   * Most holders in top_holders
   * @min 1
   * @max 100
   * @default 10
   */
  limit?: number;
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface GetHoldersData {
  /** Address of the stable, in lower case */
  address: string;
  /** The requested point in time; null in live answers */
  as_of: string | null;
  /** Accounts with a balance; null if who holds the stable is not known, as are all other figures then */
  holder_count: number | null;
  /** Sum of all balances, in base units: 6 decimals */
  supply: string | null;
  /** The same in whole tokens */
  supply_tokens: number | null;
  /** Herfindahl-Hirschman index: the sum of the squares of all shares in per cent, up to 10,000 for a single holder; null without holders */
  hhi: number | null;
  /** Gini coefficient of the balances: 0 if all are equal; null without holders */
  gini: number | null;
  /** Share of the ten largest holders in per cent; null without holders */
  top_10_pct: number | null;
  /** Share of the hundred largest holders in per cent */
  top_100_pct: number | null;
  /** The largest holders, descending */
  top_holders: {
    /**
     * From 1; of equal balances the lower address is first
     * @min 0
     */
    rank: number;
    /** Of the account */
    address: string;
    /** Who owns the address, if known */
    label: string | null;
    /**
     * In base units: 6 decimals
     * @pattern ^-?\d+$
     */
    balance: string;
    /**
     * The same in whole tokens
     * @min 0
     */
    balance_tokens: number;
    /** Share of the supply in per cent */
    share_pct: number;
  }[];
  /** What has moved in the window */
  activity: {
    /** Its length; it ends at as_of, or now */
    window: "24h" | "7d" | "30d";
    /**
     * Transfers between two accounts: no mints, burns or fees; what a virtual address passes on counts once
     * @min 0
     */
    transfer_count: number;
    /**
     * Their sum in base units: 6 decimals
     * @pattern ^-?\d+$
     */
    transferred: string;
    /**
     * The same in whole tokens
     * @min 0
     */
    transferred_tokens: number;
    /** transferred divided by the mean of the supplies at both ends of the window; null if that is 0 */
    velocity: number | null;
    /** velocity times 365, divided by the days of the window */
    velocity_a_year: number | null;
    /** What ended up with other accounts than it began with, in per cent of that mean: the smaller of all gains and all losses of balances */
    turnover_pct: number | null;
    /**
     * Accounts with a balance at the end of the window and none at its start
     * @min 0
     */
    new_holders: number;
    /**
     * Accounts with a balance at the start of the window and none at its end
     * @min 0
     */
    leaving_holders: number;
  } | null;
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
}

export interface GetRewardsParams {
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface GetRewardsData {
  /** Address of the stable, in lower case */
  address: string;
  /** The requested point in time; null in live answers */
  as_of: string | null;
  /** In percent: last_7d_tokens / opted_in_tokens x 365/7 x 100 */
  effective_apy_pct?: number | null;
  /** In base units: 6 decimals */
  opted_in_supply?: string | null;
  /** The same in whole tokens */
  opted_in_tokens?: number | null;
  /** Base units earned by one base unit opted in since the start, times 1e18 */
  global_reward_per_token?: string | null;
  /**
   * Number of distributions
   * @min 0
   */
  distribution_count: number;
  /** Amounts distributed to holders */
  distributed: {
    /**
     * In whole tokens
     * @min 0
     */
    last_24h_tokens: number;
    /**
     * In whole tokens
     * @min 0
     */
    last_7d_tokens: number;
    /**
     * In whole tokens
     * @min 0
     */
    all_time_tokens: number;
  };
  /** How many take part */
  opt_in: {
    /**
     * Holders who have opted in: their last choice of recipient is not the zero address
     * @min 0
     */
    recipient_count: number;
    /**
     * Distinct accounts that these holders have chosen as recipient
     * @min 0
     */
    distinct_recipients: number;
    /**
     * Holders whose rewards go to an account other than their own
     * @min 0
     */
    redirected_count: number;
  };
  /** Top ten funders, descending */
  top_funders: {
    /** Address of the account that funded the distributions */
    address: string;
    /**
     * Number of distributions that it funded
     * @exclusiveMin 0
     */
    distribution_count: number;
    /**
     * Total of its distributions, in whole tokens
     * @min 0
     */
    total_amount_tokens: number;
    /** Who owns the address, if known */
    label: string | null;
  }[];
  /** The last ten, newest first */
  recent_distributions: {
    /** Address of the account that funded the distribution */
    funder: string;
    /**
     * In whole tokens
     * @min 0
     */
    amount_tokens: number;
    /** Height of the block */
    block_number: number;
    /**
     * Time of the block
     * @format date-time
     */
    block_timestamp: string;
    /** Hash of the transaction */
    tx_hash: string;
    /** Who owns the address, if known */
    funder_label: string | null;
  }[];
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
}

export interface GetRolesParams {
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface GetRolesData {
  /** Address of the stable, in lower case */
  address: string;
  /**
   * The requested point in time; not in live answers
   * @format date-time
   */
  as_of?: string;
  /** How the role holders are known */
  coverage: {
    /** Whether all, some or none of the data was measured */
    status: "complete" | "partial" | "unavailable";
    /** The same in plain English */
    message: string;
    /** What is missing of what was asked, oldest first; ranges do not overlap */
    missing: {
      /**
       * Time of the last block before it, or the start of what was asked
       * @format date-time
       */
      from: string;
      /**
       * Time of the first block after it, or the end of what was asked
       * @format date-time
       */
      to: string;
      /** First missing block; null if unknown */
      from_block: number | null;
      /** Last missing block; null if unknown */
      to_block: number | null;
      /** not_read: its blocks have not been read; before_history: it is before the first block that was read; unavailable: the node no longer has it; unpriced: its flows are stored without a value, because the node no longer has the prices; not_sampled: the stable was not sampled then; not_searched: it has not been searched yet */
      reason:
        | "not_read"
        | "before_history"
        | "unavailable"
        | "unpriced"
        | "not_sampled"
        | "not_searched";
    }[];
    /**
     * Number of missing ranges, including those not listed
     * @min 0
     */
    missing_count: number;
    /** Start of what was measured of what was asked; null if nothing was */
    measured_from: string | null;
    /** End of what was measured of what was asked, apart from the missing ranges; null if nothing was */
    measured_until: string | null;
    /** The roles that the token standard has */
    roles_tracked: {
      /** Name of the role */
      name: string;
      /** What it allows. Minting (ISSUER_ROLE) ends at the supply cap; BURN_BLOCKED_ROLE burns what accounts hold that the policy blocks */
      powers: string;
    }[];
  };
  /** The role holders, in the order of the tracked roles */
  roles: {
    /** Name of a known role; otherwise its 32-byte id */
    role: string;
    /** Address that holds the role */
    account: string;
    /** null for source probe: the grant has no log */
    granted_at: string | null;
    /** Height of the block of the grant; null for source probe */
    granted_block: number | null;
    /** Hash of the transaction of the grant; null for source probe */
    tx_hash: string | null;
    /** event: read from a log; probe: a call to the stable returned that the account holds the role */
    source: "event" | "probe";
  }[];
}

export interface GetFeeEconomicsParams {
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /**
   * Maximum number of rows in an answer
   * @min 1
   * @max 500
   * @default 500
   */
  limit?: number;
  /**
   * Where to continue: `next_cursor` of the previous page
   * @maxLength 1000
   */
  cursor?: string;
}

export interface GetFeeEconomicsData {
  /** The requested point in time; null in live answers */
  as_of: string | null;
  /** Over all stables */
  totals: {
    /**
     * Users who have chosen a fee token
     * @min 0
     */
    users_electing: number;
    /**
     * Validators who have chosen a fee token
     * @min 0
     */
    validators_electing: number;
    /**
     * In whole tokens
     * @min 0
     */
    fees_distributed_7d_tokens: number;
    /**
     * In whole tokens
     * @min 0
     */
    fees_distributed_all_time_tokens: number;
    /**
     * Number of payments to validators
     * @min 0
     */
    distribution_count: number;
  };
  /** Every stable, the one with the most fees in seven days first */
  stablecoins: {
    /** Address of the stable, in lower case */
    address: string;
    /** Symbol of the stable, as its issuer wrote it; the first 64 characters */
    symbol: string;
    /** Name of the stable, as its issuer wrote it; the first 256 characters */
    name: string;
    /**
     * Users whose last choice is this stable
     * @min 0
     */
    users_electing: number;
    /**
     * Validators whose last choice is this stable
     * @min 0
     */
    validators_electing: number;
    /**
     * In whole tokens
     * @min 0
     */
    fees_received_24h_tokens: number;
    /**
     * In whole tokens
     * @min 0
     */
    fees_received_7d_tokens: number;
    /**
     * In whole tokens
     * @min 0
     */
    fees_received_all_time_tokens: number;
    /** In percent; null when no fees were distributed in seven days */
    share_of_fees_7d_pct: number | null;
    /**
     * Number of payments to validators in it
     * @min 0
     */
    distribution_count: number;
  }[];
  /** The `cursor` of the next page; null at the end */
  next_cursor: string | null;
  /** The last ten, newest first */
  recent_distributions: {
    /** Address of the validator who was paid */
    validator: string;
    /** Address of the stable in which the fees were paid */
    token: string;
    /** Symbol of the stable, or its address if it is not a known stable */
    token_symbol: string;
    /**
     * In whole tokens
     * @min 0
     */
    amount_tokens: number;
    /** Height of the block */
    block_number: number;
    /**
     * Time of the block
     * @format date-time
     */
    block_timestamp: string;
    /** Hash of the transaction */
    tx_hash: string;
    /** Who owns the address, if known */
    validator_label: string | null;
  }[];
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
}

export interface GetRiskParams {
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /** Answers with what this service had published by then, and with nothing that it learned later; in the formats of `as_of`, which is the same instant if it is omitted. Without it, the newest revision is returned, whenever it was published */
  known_at?: string;
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface GetRiskData {
  /** Address of the stable, in lower case */
  address: string;
  /**
   * Higher is riskier: 0.4 peg_risk + 0.3 peg_break_risk + 0.2 supply_risk + 0.1 policy_risk
   * @min 0
   * @max 100
   */
  composite: number;
  /** The components of the score */
  components: {
    /**
     * 0 to 100, by the spread of the price in 24 hours
     * @min 0
     * @max 100
     */
    peg_risk: number;
    /**
     * 0 to 100, by open peg breaks and those of seven days
     * @min 0
     * @max 100
     */
    peg_break_risk: number;
    /**
     * 0 to 100, by how close the supply is to its cap
     * @min 0
     * @max 100
     */
    supply_risk: number;
    /**
     * 0 to 100, by who may send and receive, and how often that changed
     * @min 0
     * @max 100
     */
    policy_risk: number;
  };
  /**
   * The five-minute mark that the score is about
   * @format date-time
   */
  computed_at: string;
  /** Version of the formula */
  methodology: string;
  /** Inputs of the score, so that anyone can recompute it */
  inputs: {
    /**
     * Samples with a price in the 24 hours up to computed_at
     * @min 0
     */
    quoted_count_24h: number;
    /**
     * Samples without one
     * @min 0
     */
    unquoted_count_24h: number;
    /** Share of the 24 hours without a price, by samples or by minutes, whichever is larger; null if not measured, and for a stable that is not in USD */
    unquoted_share_24h: number | null;
    /** Since when it could not be sold; 60 seconds before computed_at or longer count as an open severe break. null while it could, and if that was not measured */
    unquoted_since: string | null;
    /** Standard deviation of the price in basis points, population; null without a price */
    stddev_bps_24h: number | null;
    /** Largest distance from 1 in basis points; null without a price */
    max_deviation_bps_24h: number | null;
    /** Whether a mild peg break is ongoing */
    has_open_mild: boolean;
    /** Whether a severe peg break is ongoing */
    has_open_severe: boolean;
    /**
     * Mild peg breaks under way at any time of the last 7 days
     * @min 0
     */
    mild_events_7d: number;
    /**
     * Severe peg breaks under way at any time of the last 7 days
     * @min 0
     */
    severe_events_7d: number;
    /** Supply and cap in base units; null if the state was never read */
    supply: {
      /**
       * Supply
       * @pattern ^\d+$
       */
      current: string;
      /** null when there is no cap */
      cap: string | null;
    } | null;
    /** null when the state was never read */
    policy: {
      /** Who may send and receive: everyone, no one, listed accounts, all but listed accounts, or as several policies decide */
      type: "allow_all" | "reject_all" | "whitelist" | "blacklist" | "compound";
      /**
       * Number of the policy on the chain
       * @pattern ^\d+$
       */
      policy_id: string;
      /** Whether all transfers are stopped */
      paused: boolean;
    } | null;
    /** Block at whose end supply and policy were read */
    state_block_number: number | null;
    /**
     * Times that the policy was changed in the last 7 days
     * @min 0
     */
    policy_events_7d: number;
  };
  /** A second score, with liquidity and concentration, that no bad news lowers */
  extended: {
    /**
     * Higher is riskier, as composite
     * @min 0
     * @max 100
     */
    score: number;
    /** Version of the formula */
    version: string;
    /** Whether every input of its components is known */
    is_complete: boolean;
    /** The inputs that are not known; each counts as the worst */
    missing: string[];
    /** The components that cannot be measured here; the others share their weight */
    left_out: (
      | "peg"
      | "breaks"
      | "liquidity"
      | "concentration"
      | "issuance"
      | "policy"
    )[];
    /** The components of the score */
    components: {
      /** Name of the component */
      name:
        | "peg"
        | "breaks"
        | "liquidity"
        | "concentration"
        | "issuance"
        | "policy";
      /**
       * 0 to 100, higher is riskier
       * @min 0
       * @max 100
       */
      score: number;
      /**
       * Share in the score, to four decimals
       * @min 0
       * @max 1
       */
      weight: number;
      /** What it is computed from */
      inputs: {
        /** Name of the input, with its unit */
        name: string;
        /** null if it is not known; it then counts as the worst */
        value: number | boolean | string | null;
      }[];
      /** The single event that would raise it most; null if none would */
      raised_most_by: {
        /** The input that changes */
        input: string;
        /** What happens, in words */
        event: string;
        /**
         * The component after it
         * @min 0
         * @max 100
         */
        score: number;
        /** By how much the extended score would change */
        score_change: number;
      } | null;
      /** The single event that would lower it most; null if none would */
      lowered_most_by: {
        /** The input that changes */
        input: string;
        /** What happens, in words */
        event: string;
        /**
         * The component after it
         * @min 0
         * @max 100
         */
        score: number;
        /** By how much the extended score would change */
        score_change: number;
      } | null;
    }[];
    /** What the score rests on, in words */
    message: string;
  };
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /**
   * When this service published it, by its own clock; later than computed_at if jobs had to catch up
   * @format date-time
   */
  published_at: string;
  /** Increases when figures for the same time are published again, after a reorganization or a backfill */
  revision: number;
  /** true without known_at; null with it, since that only became known later */
  is_newest_revision: boolean | null;
  /**
   * The requested time of knowledge; only if it was requested
   * @format date-time
   */
  known_at?: string;
}

export interface GetReservesParams {
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /** Answers with what this service had published by then, and with nothing that it learned later; in the formats of `as_of`, which is the same instant if it is omitted. Without it, the newest revision is returned, whenever it was published */
  known_at?: string;
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface GetReservesData {
  /** Address of the stable, in lower case */
  address: string;
  /** Supply on this chain times price, in USD; null when either was not measured */
  market_value_usd: number | null;
  /** null if this service knows nothing about what backs the stable */
  backing: {
    /** What the issuer says that it holds against each token */
    claimed_model: string;
    /** The page on which the issuer says so */
    attestation_source: string | null;
    /**
     * When this service compared that with the page
     * @format date-time
     */
    attested_at: string;
  } | null;
  /** The same as market_value_usd. It is not the amount of any reserve: see backing */
  total_backing_usd: number | null;
  /** One entry per kind of reserve */
  reserves: {
    /** unknown: the issuer is not disclosed */
    reserve_type:
      | "protocol_native"
      | "bridged_fiat"
      | "fiat_backed"
      | "crypto_mixed"
      | "crypto_backed"
      | "yield_wrapper"
      | "unknown";
    /** Supply on this chain times price, in USD */
    backing_usd: number | null;
    /** The issuer’s transparency page */
    attestation_source: string | null;
    /** When the issuer’s details were last compared with their sources */
    attested_at: string | null;
    /** Whether this service has compared them with the issuer’s page */
    verified_by: "service_curated" | "unverified";
    /** Details of the reserve */
    notes: {
      /** What it is called */
      label: string;
      /** Who issues it */
      issuer: string;
      /** What the issuer holds against it */
      backing_model: string;
    };
  }[];
  /**
   * The full hour that the figures are about
   * @format date-time
   */
  computed_at: string;
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /**
   * When this service published it, by its own clock; later than computed_at if jobs had to catch up
   * @format date-time
   */
  published_at: string;
  /** Increases when figures for the same time are published again, after a reorganization or a backfill */
  revision: number;
  /** true without known_at; null with it, since that only became known later */
  is_newest_revision: boolean | null;
  /**
   * The requested time of knowledge; only if it was requested
   * @format date-time
   */
  known_at?: string;
}

export interface GetDepthParams {
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /**
   * A number of whole tokens, for which the answer has the price too
   * @pattern ^[1-9]\d{0,14}$
   */
  size?: string;
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface GetDepthData {
  /** Address of the stable, in lower case */
  address: string;
  /** The requested point in time; null in live answers */
  as_of: string | null;
  /** Height of the sampled block; null if it is not sampled */
  block_number: number | null;
  /** Time of that block */
  sampled_at: string | null;
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /** From 1,000 to 1,000,000 tokens, whatever size was asked for; empty before the first sample, and of a stable that is no longer sampled */
  sizes: {
    /** How many whole tokens */
    size_tokens: number;
    /** Quote for selling them */
    sell: {
      /** quoted, or why there is no quote */
      status: string;
      /** For all of the size, in base units of the reference stable */
      amount: string | null;
      /** For one token of it, in the reference stable */
      price: number | null;
      /** Difference from the price of a single token, in basis points */
      slippage_bps: number | null;
    };
    /** Quote for buying them */
    buy: {
      /** quoted, or why there is no quote */
      status: string;
      /** For all of the size, in base units of the reference stable */
      amount: string | null;
      /** For one token of it, in the reference stable */
      price: number | null;
      /** Difference from the price of a single token, in basis points */
      slippage_bps: number | null;
    };
  }[];
  /** Prices of the requested `size`: estimates between the two sampled sizes next to it, over the logarithm of the size; nothing is extrapolated. null if none was requested */
  at_size: {
    /** The requested number of whole tokens */
    size_tokens: number;
    /** For selling them */
    sell: {
      /** For one token of it on average, in the reference stable */
      price: number | null;
      /** How much worse than 1 that price is, in basis points; negative if it is better */
      cost_bps: number | null;
      /** Why there is no price; null if there is one */
      reason:
        | "not_sampled"
        | "below_sampled_sizes"
        | "above_sampled_sizes"
        | "quoted"
        | "anchor"
        | "no_liquidity"
        | "no_pair"
        | "not_usd"
        | "paused"
        | "failed"
        | "out_of_range"
        | "too_deep"
        | null;
    };
    /** For buying them */
    buy: {
      /** For one token of it on average, in the reference stable */
      price: number | null;
      /** How much worse than 1 that price is, in basis points; negative if it is better */
      cost_bps: number | null;
      /** Why there is no price; null if there is one */
      reason:
        | "not_sampled"
        | "below_sampled_sizes"
        | "above_sampled_sizes"
        | "quoted"
        | "anchor"
        | "no_liquidity"
        | "no_pair"
        | "not_usd"
        | "paused"
        | "failed"
        | "out_of_range"
        | "too_deep"
        | null;
    };
  } | null;
}

export interface GetLiquidityParams {
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /**
   * A number of whole tokens, for which the answer has the price too
   * @pattern ^[1-9]\d{0,14}$
   */
  size?: string;
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface GetLiquidityData {
  /** Address of the stable, in lower case */
  address: string;
  /** The requested point in time; null in live answers */
  as_of: string | null;
  /** Height of the sampled block; null if it is not sampled */
  block_number: number | null;
  /** Time of that block */
  sampled_at: string | null;
  /** From that block to now, or to as_of */
  sample_age_seconds: number | null;
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /** The only route on which the exchange trades it at that block: its address, those of the tokens between, and that of the reference stable; null if there is none */
  route: string[] | null;
  /** From 1,000 to 1,000,000 tokens; empty if it is not sampled */
  sizes: {
    /** How many whole tokens */
    size_tokens: number;
    /** For selling them */
    sell: {
      /** quoted, or why there is no quote */
      status: string;
      /** Average price of one token of it, in the reference stable */
      price: number | null;
      /** Distance of that price from 1.00 in basis points, negative below it */
      deviation_bps: number | null;
    };
    /** For buying them */
    buy: {
      /** quoted, or why there is no quote */
      status: string;
      /** Average price of one token of it, in the reference stable */
      price: number | null;
      /** Distance of that price from 1.00 in basis points, negative below it */
      deviation_bps: number | null;
    };
    /** Halfway between both prices; null without both */
    mid_price: number | null;
    /** Half of the difference between both prices, in basis points of mid_price */
    half_spread_bps: number | null;
  }[];
  /** The largest sizes whose average price is within 10, 50 and 100 basis points of the peg */
  depth_at_bps: {
    /** How much worse than 1.00 the average price may be */
    bps: number;
    /** How many tokens can be sold */
    sell: {
      /** Estimate between two sampled sizes; null below the smallest, above the largest, or without a price */
      tokens: number | null;
      /** The largest sampled size within the limit; null if none is */
      at_least_tokens: number | null;
      /** The next larger sampled size, which is not; null if none is known not to be */
      less_than_tokens: number | null;
    };
    /** How many tokens can be bought */
    buy: {
      /** Estimate between two sampled sizes; null below the smallest, above the largest, or without a price */
      tokens: number | null;
      /** The largest sampled size within the limit; null if none is */
      at_least_tokens: number | null;
      /** The next larger sampled size, which is not; null if none is known not to be */
      less_than_tokens: number | null;
    };
  }[];
  /** In base units: 6 decimals; null if it was never read */
  supply: string | null;
  /** Depth for selling within 50 bps, as a share of the supply; above 1 if more is bid for than exists */
  exit_share: {
    /** Of `tokens`; null without it, or without a supply */
    share: number | null;
    /** Of `at_least_tokens` */
    at_least: number | null;
    /** Of `less_than_tokens` */
    less_than: number | null;
  };
  /** What selling `size` tokens costs; null without `size` */
  exit_cost: {
    /** How many whole tokens are sold */
    size_tokens: number;
    /** How much worse than 1.00 the average price is, in basis points; negative if it is better */
    exit_cost_bps: number | null;
    /** Why it is null: the size is outside the sampled ones, nothing is sampled, or the status of the neighbouring size that has no price */
    reason:
      | "not_sampled"
      | "below_sampled_sizes"
      | "above_sampled_sizes"
      | "quoted"
      | "anchor"
      | "no_liquidity"
      | "no_pair"
      | "not_usd"
      | "paused"
      | "failed"
      | "out_of_range"
      | "too_deep"
      | null;
  } | null;
}

export interface GetFlowsParams {
  /**
   * Length of the window in hours, which ends now or at as_of
   * @default 24
   */
  hours?: 1 | 6 | 24;
  /**
   * Only edges from or to this stable, and the nodes at their ends; the totals of a node are those of all edges
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  stable?: string;
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
}

export interface GetFlowsData {
  /** Length of the window in hours */
  window_hours: number;
  /** One for each pair of stables and direction, the largest volume first */
  edges: {
    /** Symbol of the stable sent */
    from: string;
    /** Symbol of the stable received */
    to: string;
    /** Address of the stable sent */
    from_address: string;
    /** Address of the stable received */
    to_address: string;
    /**
     * USD with six decimals: of each flow the lesser of what was given and what was got, at the prices of its block
     * @pattern ^\d+\.\d{6}$
     */
    volume_usd: string;
    /**
     * Distinct transactions
     * @min 0
     */
    tx_count: number;
    /**
     * Flows without a USD value, which the volume leaves out
     * @min 0
     */
    unvalued_count: number;
    /**
     * What they gave of the stable sent, in base units
     * @pattern ^\d+$
     */
    unvalued_in_raw: string;
    /**
     * What they got of the stable received, in base units
     * @pattern ^\d+$
     */
    unvalued_out_raw: string;
  }[];
  /** One for each stable that has an edge */
  nodes: {
    /** Symbol of the stable, as its issuer wrote it; the first 64 characters */
    symbol: string;
    /** Whether another node has the same symbol: go by the address */
    symbol_shared: boolean;
    /** Address of the stable, in lower case */
    address: string;
    /**
     * Inflow, in USD with six decimals
     * @pattern ^\d+\.\d{6}$
     */
    inbound_usd: string;
    /**
     * Outflow, in USD with six decimals
     * @pattern ^\d+\.\d{6}$
     */
    outbound_usd: string;
  }[];
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
}

export interface GetFlowHistoryParams {
  /** Start of the range, included; 24 hours before `to` if omitted; in the formats of `as_of` */
  from?: string;
  /** End of the range, not included; now if omitted; in the formats of `as_of` */
  to?: string;
}

export interface GetFlowHistoryData {
  /**
   * Start of the window
   * @format date-time
   */
  from: string;
  /**
   * End of the window, not included
   * @format date-time
   */
  to: string;
  /** Length of the window in hours, rounded up */
  window_hours: number;
  /** One for each pair of stables and direction, the largest volume first */
  edges: {
    /** Symbol of the stable sent */
    from: string;
    /** Symbol of the stable received */
    to: string;
    /** Address of the stable sent */
    from_address: string;
    /** Address of the stable received */
    to_address: string;
    /**
     * USD with six decimals: of each flow the lesser of what was given and what was got, at the prices of its block
     * @pattern ^\d+\.\d{6}$
     */
    volume_usd: string;
    /**
     * Distinct transactions
     * @min 0
     */
    tx_count: number;
    /**
     * Flows without a USD value, which the volume leaves out
     * @min 0
     */
    unvalued_count: number;
    /**
     * What they gave of the stable sent, in base units
     * @pattern ^\d+$
     */
    unvalued_in_raw: string;
    /**
     * What they got of the stable received, in base units
     * @pattern ^\d+$
     */
    unvalued_out_raw: string;
  }[];
  /** One for each stable that has an edge */
  nodes: {
    /** Symbol of the stable, as its issuer wrote it; the first 64 characters */
    symbol: string;
    /** Whether another node has the same symbol: go by the address */
    symbol_shared: boolean;
    /** Address of the stable, in lower case */
    address: string;
    /**
     * Inflow, in USD with six decimals
     * @pattern ^\d+\.\d{6}$
     */
    inbound_usd: string;
    /**
     * Outflow, in USD with six decimals
     * @pattern ^\d+\.\d{6}$
     */
    outbound_usd: string;
  }[];
  /** Every hour of the window, oldest first, including hours without a flow */
  series: {
    /**
     * Start of the hour; the first may be before from
     * @format date-time
     */
    hour_start: string;
    /**
     * USD with six decimals: of each flow the lesser of what was given and what was got, at the prices of its block
     * @pattern ^\d+\.\d{6}$
     */
    volume_usd: string;
    /**
     * Transactions, once for each edge that they flow on
     * @min 0
     */
    tx_count: number;
    /**
     * Flows without a USD value, which the volume leaves out
     * @min 0
     */
    unvalued_count: number;
  }[];
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
}

export interface ListFlowAnomaliesParams {
  /**
   * Maximum number of rows in an answer
   * @min 1
   * @max 500
   * @default 50
   */
  limit?: number;
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /** Answers with what this service had published by then, and with nothing that it learned later; in the formats of `as_of`, which is the same instant if it is omitted. Without it, the newest revision is returned, whenever it was published */
  known_at?: string;
  /**
   * Where to continue: `next_cursor` of the previous page
   * @maxLength 1000
   */
  cursor?: string;
}

export interface ListFlowAnomaliesData {
  /** Newest window first; within a window, largest |z_score| first */
  anomalies: {
    /** Address of the stable sent */
    from_token: string;
    /** Address of the stable received */
    to_token: string;
    /** surge: more than usual, also for the windows with a flow; drop: less than usual; silence: no flow for longer than any silence of the week before, and improbably long */
    kind: "surge" | "drop" | "silence";
    /**
     * Start of the 15-minute window
     * @format date-time
     */
    window_start: string;
    /**
     * End of the window, not included
     * @format date-time
     */
    window_end: string;
    /**
     * Flow in the window, in USD; 0 if there was none
     * @min 0
     */
    observed_flow_usd: number;
    /**
     * Mean flow of the windows of the preceding seven days, in USD
     * @min 0
     */
    baseline_mean_usd: number;
    /**
     * Population standard deviation of the same windows, in USD
     * @min 0
     */
    baseline_stddev_usd: number;
    /** Distance of the flow from the mean in standard deviations, signed */
    z_score: number;
    /**
     * Distinct transactions in the window
     * @min 0
     */
    tx_count: number;
    /**
     * The instant for which it was found: the end of the window
     * @format date-time
     */
    detected_at: string;
    /**
     * Windows in the baseline, including those without a flow
     * @min 0
     */
    baseline_windows: number;
    /**
     * Windows in the baseline with a flow that has a USD value
     * @min 0
     */
    observations: number;
    /**
     * Mean flow of those windows, in USD
     * @min 0
     */
    active_mean_usd: number;
    /**
     * Population standard deviation of those windows, in USD
     * @min 0
     */
    active_stddev_usd: number;
    /** Of a silence: windows without a flow up to this one, included; else null */
    silent_windows: number | null;
    /** Of a silence: windows in the longest one of the week before it; else null */
    longest_silence_windows: number | null;
    /** Of a silence: its probability, if windows were independent, by the week before it; else null */
    silence_probability: number | null;
    /** When the newest event about it was published, which is long after it if a backfill found it; null if none was, or if it was taken back and is not announced again yet */
    published_at: string | null;
  }[];
  /** End of the newest scored window; null before the first */
  scored_until: string | null;
  /** Start of what has been searched; null before the first search */
  searched_from: string | null;
  /** End of what has been searched; null before the first search. Windows that ended in that time have been searched from searched_from on, apart from the missing ranges of coverage */
  searched_until: string | null;
  /** Nothing is missing from searched_from to here: an answer without results means that there were none in that time; null if something is missing at its start */
  complete_until: string | null;
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /**
   * The requested time of knowledge; only if it was requested
   * @format date-time
   */
  known_at?: string;
  /** The `cursor` of the next page; null at the end */
  next_cursor: string | null;
}

export interface ListFlowScoresParams {
  /**
   * Maximum number of rows in an answer
   * @min 1
   * @max 500
   * @default 50
   */
  limit?: number;
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /**
   * Only edges with at least this |robust_z|
   * @min 0
   */
  min_abs_z?: number;
  /**
   * Only edges with at most this q_value: of those with at most 0.01, about 1 % are ordinary
   * @min 0
   * @max 1
   */
  max_q?: number;
  /**
   * Where to continue: `next_cursor` of the previous page
   * @maxLength 1000
   */
  cursor?: string;
}

export interface ListFlowScoresData {
  /**
   * The requested point in time; not in live answers
   * @format date-time
   */
  as_of?: string;
  /** Start of the window; null before the first */
  window_start: string | null;
  /** End of the window, not included; null before the first */
  window_end: string | null;
  /**
   * Edges with a flow by then
   * @min 0
   */
  edge_count: number;
  /**
   * Those with a p_value, over which q_value is computed
   * @min 0
   */
  scored_count: number;
  /** The least probable first; last those that are not scored */
  scores: {
    /** Symbol of the stable sent */
    from: string;
    /** Symbol of the stable received */
    to: string;
    /** Address of the stable sent */
    from_address: string;
    /** Address of the stable received */
    to_address: string;
    /** Flow in the window, in USD with six decimals; null if none of its flows has a USD value */
    observed_usd: string | null;
    /** Windows of the preceding seven days, from the first flow on, without those of unvalued flows; null if not wholly read */
    baseline_windows: number | null;
    /** Those of them with a flow; null if not wholly read */
    observations: number | null;
    /** observations / baseline_windows; null without a baseline */
    active_share: number | null;
    /** Median of the observations, in USD; null without one */
    median_active_usd: number | null;
    /** 0.6745 × (ln volume − median) / median absolute deviation, over the observations; null without a flow, or if not scored */
    robust_z: number | null;
    /** If there is a flow: 95 of 100 volumes lie from here; null with fewer than 10 observations */
    expected_low_usd: number | null;
    /** If there is a flow: 95 of 100 volumes lie up to here; null with fewer than 10 observations */
    expected_high_usd: number | null;
    /** Probability that the window has a flow, by its history; null with fewer than 10 observations */
    activity_probability: number | null;
    /** Whether activity_probability is that of the hour of the day, by the four weeks before */
    is_by_hour: boolean;
    /** Windows without a flow up to this one, included; null if it has a flow or is not scored */
    silent_windows: number | null;
    /** Probability of an outcome at least as unusual by its own history; null if not scored */
    p_value: number | null;
    /** The same, corrected for the number of edges (Benjamini and Hochberg); null if not scored */
    q_value: number | null;
    /** Why, in plain English */
    reasons: string[];
  }[];
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /** The `cursor` of the next page; null at the end */
  next_cursor: string | null;
}

export interface ExportFlowsParams {
  /** Start of the range, included; 24 hours before `to` if omitted; in the formats of `as_of` */
  from?: string;
  /** End of the range, not included; now if omitted; in the formats of `as_of` */
  to?: string;
  /**
   * Format of the rows
   * @default "json"
   */
  format?: "json" | "ndjson" | "csv" | "parquet" | "arrow";
  /**
   * How csv writes a value that was not measured: `empty` suits spreadsheets
   * @default "\N"
   */
  null?: "empty" | "\\N";
  /**
   * Whether csv begins with a line, after a `#`, that says what the rows are and how complete
   * @default "false"
   */
  provenance?: "true" | "false";
  /**
   * Maximum number of rows in an answer
   * @min 1
   * @max 1000000
   * @default 100000
   */
  limit?: number;
  /**
   * Where to continue: `next_cursor` of the previous page
   * @maxLength 1000
   */
  cursor?: string;
}

export interface ExportFlowsData {
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /** The rows, oldest first */
  data: {
    /**
     * Time of the block
     * @format date-time
     */
    block_time: string;
    /**
     * Height of the block
     * @pattern ^\d+$
     */
    block_number: string;
    /** Position of the log in its block */
    log_index: number;
    /** Hash of the transaction */
    tx_hash: string;
    /** Kind of flow */
    kind: "swap" | "transfer" | "bridge";
    /** Symbol of the stable sent, as its issuer wrote it */
    from: string;
    /** Symbol of the stable received, as its issuer wrote it */
    to: string;
    /** Address of the stable sent */
    from_address: string;
    /** Address of the stable received */
    to_address: string;
    /** Address of the account that sent and received */
    account: string;
    /**
     * Base units of the stable sent
     * @pattern ^\d+$
     */
    amount_in: string;
    /**
     * Base units of the stable received
     * @pattern ^\d+$
     */
    amount_out: string;
    /** USD with six decimals, at the prices of that block; null when neither stable had one */
    usd_value: string | null;
    /** The stables that a swap went through, both ends included */
    path: string[];
    /** Of a bridge: eid:<LayerZero endpoint id> or zone:<id> */
    remote_chain: string | null;
  }[];
  /** The `cursor` of the next page; null at the end */
  next_cursor: string | null;
}

export interface GetPegSeriesParams {
  /** Start of the range, included; 24 hours before `to` if omitted; in the formats of `as_of` */
  from?: string;
  /** End of the range, not included; now if omitted; in the formats of `as_of` */
  to?: string;
  /**
   * Format of the rows
   * @default "json"
   */
  format?: "json" | "ndjson" | "csv" | "parquet" | "arrow";
  /**
   * How csv writes a value that was not measured: `empty` suits spreadsheets
   * @default "\N"
   */
  null?: "empty" | "\\N";
  /**
   * Whether csv begins with a line, after a `#`, that says what the rows are and how complete
   * @default "false"
   */
  provenance?: "true" | "false";
  /**
   * Maximum number of rows in an answer
   * @min 1
   * @max 1000000
   * @default 100000
   */
  limit?: number;
  /**
   * Length of the buckets, which are aligned to UTC
   * @default "1h"
   */
  interval?: "1m" | "5m" | "1h" | "1d";
  /**
   * Where to continue: `next_cursor` of the previous page
   * @maxLength 1000
   */
  cursor?: string;
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface GetPegSeriesData {
  /** Address of the stable, in lower case */
  address: string;
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /** Length of the buckets */
  interval: "1m" | "5m" | "1h" | "1d";
  /** The rows, oldest first */
  data: {
    /**
     * Start of the bucket, not included
     * @format date-time
     */
    bucket_start: string;
    /**
     * End of the bucket, included
     * @format date-time
     */
    bucket_end: string;
    /** The first price in the bucket, in the reference stable; null without one */
    open: number | null;
    /** The highest price */
    high: number | null;
    /** The lowest price */
    low: number | null;
    /** The last price */
    close: number | null;
    /** Over the samples with a price */
    mean: number | null;
    /** Seconds that the price was more than 10 bps from 1.00; null without a price */
    seconds_outside_10bps: number | null;
    /** Seconds that the price was more than 50 bps from 1.00; null without a price */
    seconds_outside_50bps: number | null;
    /**
     * Samples with a price
     * @min 0
     */
    sample_count: number;
    /**
     * Samples without a price
     * @min 0
     */
    unquoted_count: number;
  }[];
  /** The `cursor` of the next page; null at the end */
  next_cursor: string | null;
}

export interface GetSupplySeriesParams {
  /** Start of the range, included; 24 hours before `to` if omitted; in the formats of `as_of` */
  from?: string;
  /** End of the range, not included; now if omitted; in the formats of `as_of` */
  to?: string;
  /**
   * Format of the rows
   * @default "json"
   */
  format?: "json" | "ndjson" | "csv" | "parquet" | "arrow";
  /**
   * How csv writes a value that was not measured: `empty` suits spreadsheets
   * @default "\N"
   */
  null?: "empty" | "\\N";
  /**
   * Whether csv begins with a line, after a `#`, that says what the rows are and how complete
   * @default "false"
   */
  provenance?: "true" | "false";
  /**
   * Maximum number of rows in an answer
   * @min 1
   * @max 1000000
   * @default 100000
   */
  limit?: number;
  /**
   * Length of the buckets, which are aligned to UTC
   * @default "1h"
   */
  interval?: "1m" | "5m" | "1h" | "1d";
  /**
   * Where to continue: `next_cursor` of the previous page
   * @maxLength 1000
   */
  cursor?: string;
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface GetSupplySeriesData {
  /** Address of the stable, in lower case */
  address: string;
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /** Length of the buckets */
  interval: "1m" | "5m" | "1h" | "1d";
  /** The rows, oldest first */
  data: {
    /**
     * Start of the bucket, not included
     * @format date-time
     */
    bucket_start: string;
    /**
     * End of the bucket, included
     * @format date-time
     */
    bucket_end: string;
    /** Base units at the end of the bucket */
    supply: string | null;
    /** Base units at the end of the bucket; null when there is none */
    cap: string | null;
    /**
     * Base units within the bucket
     * @pattern ^\d+$
     */
    minted: string;
    /**
     * Base units within the bucket
     * @pattern ^\d+$
     */
    burned: string;
  }[];
  /** The `cursor` of the next page; null at the end */
  next_cursor: string | null;
}

export interface GetRiskSeriesParams {
  /** Start of the range, included; 24 hours before `to` if omitted; in the formats of `as_of` */
  from?: string;
  /** End of the range, not included; now if omitted; in the formats of `as_of` */
  to?: string;
  /**
   * Format of the rows
   * @default "json"
   */
  format?: "json" | "ndjson" | "csv" | "parquet" | "arrow";
  /**
   * How csv writes a value that was not measured: `empty` suits spreadsheets
   * @default "\N"
   */
  null?: "empty" | "\\N";
  /**
   * Whether csv begins with a line, after a `#`, that says what the rows are and how complete
   * @default "false"
   */
  provenance?: "true" | "false";
  /**
   * Maximum number of rows in an answer
   * @min 1
   * @max 1000000
   * @default 100000
   */
  limit?: number;
  /**
   * Length of the buckets, which are aligned to UTC
   * @default "1h"
   */
  interval?: "1m" | "5m" | "1h" | "1d";
  /**
   * Where to continue: `next_cursor` of the previous page
   * @maxLength 1000
   */
  cursor?: string;
  /** Answers with what this service had published by then, and with nothing that it learned later; in the formats of `as_of`, which is the same instant if it is omitted. Without it, the newest revision is returned, whenever it was published */
  known_at?: string;
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface GetRiskSeriesData {
  /** Address of the stable, in lower case */
  address: string;
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /** Length of the buckets */
  interval: "1m" | "5m" | "1h" | "1d";
  /**
   * The requested time of knowledge; only if it was requested
   * @format date-time
   */
  known_at?: string;
  /** The rows, oldest first */
  data: {
    /**
     * Start of the bucket, not included
     * @format date-time
     */
    bucket_start: string;
    /**
     * End of the bucket, included
     * @format date-time
     */
    bucket_end: string;
    /** As of the end of the bucket; null before the first snapshot */
    composite: number | null;
    /** 0 to 100, as of the end of the bucket */
    peg_risk: number | null;
    /** 0 to 100, as of the end of the bucket */
    peg_break_risk: number | null;
    /** 0 to 100, as of the end of the bucket */
    supply_risk: number | null;
    /** 0 to 100, as of the end of the bucket */
    policy_risk: number | null;
    /** Version of the formula */
    methodology: string | null;
    /** The lowest of the snapshots in the bucket; null without one */
    composite_min: number | null;
    /** The highest of the snapshots in the bucket; null without one */
    composite_max: number | null;
    /** Revision of the snapshot; null before the first */
    revision: number | null;
    /** When that snapshot was published */
    published_at: string | null;
    /**
     * Snapshots in the bucket
     * @min 0
     */
    snapshot_count: number;
    /** The extended score that was computed with composite; null before the first snapshot */
    extended: number | null;
    /** Version of its formula */
    extended_version: string | null;
  }[];
  /** The `cursor` of the next page; null at the end */
  next_cursor: string | null;
}

export interface GetAllPegSeriesParams {
  /** Start of the range, included; 24 hours before `to` if omitted; in the formats of `as_of` */
  from?: string;
  /** End of the range, not included; now if omitted; in the formats of `as_of` */
  to?: string;
  /**
   * Length of the buckets, which are aligned to UTC
   * @default "5m"
   */
  step?: "1m" | "5m" | "1h" | "1d";
  /** Addresses of tracked stables, separated by commas; all that are in use if omitted */
  stables?: string;
}

export interface GetAllPegSeriesData {
  /**
   * Start of the first bucket, not included
   * @format date-time
   */
  from: string;
  /**
   * End of the last bucket, included
   * @format date-time
   */
  to: string;
  /** Length of the buckets */
  step_seconds: number;
  /**
   * How many values each column has, oldest first. Only buckets that have ended are in the answer
   * @min 0
   */
  bucket_count: number;
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /** By address: those that were sampled in the range, or those that were asked for */
  stables: {
    /** Address of the stable, in lower case */
    address: string;
    /** Symbol of the stable, as its issuer wrote it; the first 64 characters */
    symbol: string;
    /** Lowest price, in basis points from 1.00, signed; null without a price */
    low_bps: (number | null)[];
    /** Highest price, in basis points from 1.00, signed; null without a price */
    high_bps: (number | null)[];
    /** Last price, in basis points from 1.00, signed; null without a price */
    last_bps: (number | null)[];
    /** Share of the samples that have no price, to six decimals; null where nothing was sampled */
    unquoted_share: (number | null)[];
  }[];
}

export interface GetPegWindowSeriesParams {
  /** Start of the range, included; 24 hours before `to` if omitted; in the formats of `as_of` */
  from?: string;
  /** End of the range, not included; now if omitted; in the formats of `as_of` */
  to?: string;
  /**
   * Length of the buckets, which are aligned to UTC
   * @default "5m"
   */
  step?: "1m" | "5m" | "1h" | "1d";
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface GetPegWindowSeriesData {
  /** Address of the stable, in lower case */
  address: string;
  /**
   * Start of the first bucket, not included
   * @format date-time
   */
  from: string;
  /**
   * End of the last bucket, included
   * @format date-time
   */
  to: string;
  /** Length of the buckets */
  step_seconds: number;
  /**
   * How many values each column has, oldest first. Only buckets that have ended are in the answer
   * @min 0
   */
  bucket_count: number;
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /** Of the last hour, day and week, as of the end of each bucket */
  windows: {
    /** Its length */
    window: "1h" | "24h" | "7d";
    /** Samples with a price */
    sample_count: number[];
    /** Samples without a price, in none of the figures below */
    unquoted_count: number[];
    /** Share of the samples that have no price, to six decimals; null without samples */
    unquoted_share: (number | null)[];
    /** Over the samples with a price, in the reference stable; null without one */
    mean_price: (number | null)[];
    /** Standard deviation over the samples with a price, population, in the reference stable */
    stddev_price: (number | null)[];
    /** In the reference stable */
    min_price: (number | null)[];
    /** In the reference stable */
    max_price: (number | null)[];
    /** Largest distance from 1.00 in basis points */
    max_deviation_bps: (number | null)[];
    /** Seconds that the price was more than 10 bps from 1.00 */
    seconds_outside_10bps: (number | null)[];
    /** Seconds that the price was more than 50 bps from 1.00 */
    seconds_outside_50bps: (number | null)[];
  }[];
}

export interface GetDepthSeriesParams {
  /** Start of the range, included; 24 hours before `to` if omitted; in the formats of `as_of` */
  from?: string;
  /** End of the range, not included; now if omitted; in the formats of `as_of` */
  to?: string;
  /**
   * Length of the buckets, which are aligned to UTC
   * @default "5m"
   */
  step?: "1m" | "5m" | "1h" | "1d";
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface GetDepthSeriesData {
  /** Address of the stable, in lower case */
  address: string;
  /**
   * Start of the first bucket, not included
   * @format date-time
   */
  from: string;
  /**
   * End of the last bucket, included
   * @format date-time
   */
  to: string;
  /** Length of the buckets */
  step_seconds: number;
  /**
   * How many values each column has, oldest first. Only buckets that have ended are in the answer
   * @min 0
   */
  bucket_count: number;
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /** By size; empty if the depth was not sampled in the range */
  sizes: {
    /** How many whole tokens */
    size_tokens: number;
    /** What selling them costs at the newest sample, in basis points of the price of a single token; null without a sample in the bucket or a quote */
    sell_slippage_bps: (number | null)[];
    /** What buying them costs at the newest sample, in basis points of the price of a single token; null without a sample in the bucket or a quote */
    buy_slippage_bps: (number | null)[];
    /** Whether the depth was sampled in the bucket */
    is_sampled: boolean[];
  }[];
}

export interface GetLiquiditySeriesParams {
  /** Start of the range, included; 24 hours before `to` if omitted; in the formats of `as_of` */
  from?: string;
  /** End of the range, not included; now if omitted; in the formats of `as_of` */
  to?: string;
  /**
   * Length of the buckets, which are aligned to UTC
   * @default "5m"
   */
  step?: "1m" | "5m" | "1h" | "1d";
  /**
   * Address of a stable that /stablecoins lists, in any letter case
   * @pattern ^0x[0-9a-fA-F]{40}$
   * @example "0x20c0000000000000000000000000000000000000"
   */
  address: string;
}

export interface GetLiquiditySeriesData {
  /** Address of the stable, in lower case */
  address: string;
  /**
   * Start of the first bucket, not included
   * @format date-time
   */
  from: string;
  /**
   * End of the last bucket, included
   * @format date-time
   */
  to: string;
  /** Length of the buckets */
  step_seconds: number;
  /**
   * How many values each column has, oldest first. Only buckets that have ended are in the answer
   * @min 0
   */
  bucket_count: number;
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /** By size; empty if the depth was not sampled in the range */
  sizes: {
    /** How many whole tokens */
    size_tokens: number;
    /** Distance of the price for selling them from 1.00, null without a sample in the bucket or a quote */
    sell_deviation_bps: (number | null)[];
    /** Distance of the price for buying them from 1.00, null without a sample in the bucket or a quote */
    buy_deviation_bps: (number | null)[];
    /** Half of the difference between both, null without both */
    half_spread_bps: (number | null)[];
    /** Whether the size was sampled in the bucket */
    is_sampled: boolean[];
  }[];
  /** The largest sizes whose average price is within 50 basis points of the peg */
  depth_at_50bps: {
    /** How many tokens can be sold */
    sell: {
      /** Estimate between two sampled sizes; null where none can be made */
      tokens: (number | null)[];
      /** The largest sampled size within the limit */
      at_least_tokens: (number | null)[];
      /** The next larger sampled size, which is not */
      less_than_tokens: (number | null)[];
    };
    /** How many tokens can be bought */
    buy: {
      /** Estimate between two sampled sizes; null where none can be made */
      tokens: (number | null)[];
      /** The largest sampled size within the limit */
      at_least_tokens: (number | null)[];
      /** The next larger sampled size, which is not */
      less_than_tokens: (number | null)[];
    };
  };
}

export interface GetStatusData {
  /**
   * The instant at which the lags were measured
   * @format date-time
   */
  at: string;
  /** The newest block that may be read, as last reported by the node; null before the first report */
  head: {
    /** finalized, or latest on a chain without finality */
    tag: string;
    /**
     * Of the head
     * @min 0
     */
    block_number: number;
    /**
     * Of the head
     * @format date-time
     */
    block_time: string;
    /**
     * When the node was asked
     * @format date-time
     */
    seen_at: string;
  } | null;
  /** How the node answers ingest; null if ingest does not run, or has just begun */
  node: {
    /**
     * When ingest last recorded how the node answers
     * @format date-time
     */
    noted_at: string;
    /** Empty if nothing is wrong. away: no call was answered; limits_rate: it refuses calls that come too fast; limits_ranges: it refuses ranges of logs for their blocks or results; drops_states: it no longer has states that were asked for; late, fails: more than a tenth of the calls; unsteady: the chain was replaced more than ten times in an hour, as by nodes on different forks */
    problems: (
      | "away"
      | "limits_rate"
      | "limits_ranges"
      | "drops_states"
      | "late"
      | "fails"
      | "unsteady"
    )[];
    /** Calls of the minute before, by what became of them */
    calls_1m: {
      /**
       * Answered
       * @min 0
       */
      ok: number;
      /**
       * Refused because they came too fast
       * @min 0
       */
      limited: number;
      /**
       * Refused because of too many blocks or results
       * @min 0
       */
      too_large: number;
      /**
       * Refused because the node has dropped the state of the block
       * @min 0
       */
      no_state: number;
      /**
       * Not answered in time
       * @min 0
       */
      late: number;
      /**
       * Failed in another way
       * @min 0
       */
      failed: number;
    };
    /**
     * How often the chain was no longer the one that was read
     * @min 0
     */
    chain_changes_1h: number;
  } | null;
  /** The newest stored block */
  newest_block: {
    /**
     * Of that block
     * @min 0
     */
    block_number: number;
    /**
     * Of that block
     * @format date-time
     */
    block_time: string;
  } | null;
  /** Progress of a first start on a chain with a past: the tokens and orders of that past, before the first block is read in full. Null at any other time */
  catalogue: {
    /**
     * The last block that is read
     * @min 0
     */
    block_number: number;
    /**
     * The newest block when it began; with a START_BLOCK before that, less is read
     * @min 0
     */
    to_block: number;
    /** Speed of the last minute; null if that is not known */
    blocks_per_second: number | null;
    /** Time left at that speed; null if it is not known */
    eta_seconds: number | null;
  } | null;
  /** Progress of each dataset, and its delays in the last hour and day */
  datasets: {
    /** A family of facts (logs, pegs, state; transfers where holders are tracked), or what a job publishes */
    dataset: string;
    /** Of facts: they are complete up to this instant. Of a job: its newest slot that is done; catch_up of the job tells of older ones that are not */
    newest_at: string | null;
    /** Blocks between it and the head; null if the node was not asked for its head in the last minute */
    lag_blocks: number | null;
    /** Age of newest_at by the clock */
    lag_seconds: number | null;
    /** How long after their own time blocks (or slots of a job) were stored, over a period; null if there were none */
    delay_1h: Delay;
    /** How long after their own time blocks (or slots of a job) were stored, over a period; null if there were none */
    delay_24h: Delay;
  }[];
  /** Missing data */
  gaps: {
    /**
     * Missing blocks between stored ones
     * @min 0
     */
    missing_blocks: number;
    /**
     * Ranges that could not be read
     * @min 0
     */
    declared_count: number;
    /** Ranges, both ends included, that could not be read; at most 50 */
    declared: {
      /** A family of facts */
      dataset: string;
      /**
       * First block
       * @min 0
       */
      from_block: number;
      /**
       * Last block, included
       * @min 0
       */
      to_block: number;
      /** Why it could not be read */
      reason: string;
    }[];
  };
  /** State of the database itself */
  storage: {
    /** Free share of the fullest disk of the database; null if it cannot be read */
    least_free_share: number | null;
    /** How far the replica that is read is behind the others; null without replicas, or if it cannot be read */
    replica_delay_seconds: number | null;
    /** Tables of that replica that accept no rows; null as above */
    readonly_tables: number | null;
    /** Whether the Keeper of the replicas answers that replica; without it, nothing is written. Null as above */
    keeper_answers: boolean | null;
    /** Other replicas that do not run, or have lost the Keeper; null as above, and while it does not answer */
    replicas_away: number | null;
  };
  /** Fees of transactions before this instant may be let go of (RETAIN_FEES_PAID_DAYS); they are not compared, and no answer reads them. Null if all are kept */
  fees_kept_from: string | null;
  /** Findings of the newest check of the database against the chain; null before the first */
  invariants: {
    /**
     * When the check began
     * @format date-time
     */
    started_at: string;
    /**
     * When the check ended
     * @format date-time
     */
    ended_at: string;
    /** One for each table and invariant */
    findings: {
      /** A table or an invariant */
      what: string;
      /** What was found */
      status: "match" | "mismatch" | "not checked";
      /** What was checked, or why it was not */
      scope: string;
    }[];
  } | null;
  /** State of the jobs */
  jobs: {
    /** Its name */
    job: string;
    /**
     * From one slot to the next
     * @min 0
     */
    period_seconds: number;
    /** The newest slot that is done; null before the first */
    last_slot_at: string | null;
    /** When a run last succeeded; null before the first */
    last_success_at: string | null;
    /** How far last_slot_at is behind the newest block */
    lag_seconds: number | null;
    /** Behind the chain for more than three runs that could be done */
    is_late: boolean;
    /**
     * Slots that cannot be done yet, because facts that their results rest on are not read
     * @min 0
     */
    waiting_slots: number;
    /** Why they wait; null if none does. history_not_read: the history that the job needs before a slot is not read completely; blocks_missing: blocks after them are missing; backfill_running: a backfill is adding blocks or has just ended */
    waiting_reason:
      | "history_not_read"
      | "blocks_missing"
      | "backfill_running"
      | null;
    /** Later slots do not wait; null if none waits. On a chain that is not read from its first block, and without a backfill, anomalies wait like this for the first week: nothing is searched until then */
    waiting_until: string | null;
    /** Progress with the slots that could be done now; null if there are none */
    catch_up: {
      /**
       * Slots that could be done now
       * @min 0
       */
      due_slots: number;
      /**
       * Slots that are done since the backfill or the rollback because of which the oldest one has to be done; without one, all that are done
       * @min 0
       */
      done_slots: number;
      /**
       * The oldest slot that could be done now
       * @format date-time
       */
      oldest_slot_at: string;
      /** Speed of the last five minutes; null if it is not known, as before a second run has ended */
      slots_per_second: number | null;
      /** Time left at that speed; null if it is not known */
      eta_seconds: number | null;
    } | null;
    /**
     * Runs that succeeded in the last 24 hours
     * @min 0
     */
    done_24h: number;
    /**
     * Runs that failed in the last 24 hours
     * @min 0
     */
    failed_24h: number;
    /** How long a run took, in milliseconds; null without one */
    median_ms_24h: number | null;
  }[];
}

export interface ListEventsParams {
  /**
   * `sequence` of the last event that you have; 0 for the beginning of the log
   * @pattern ^\d{1,9}$
   */
  after?: string;
  /** Instead of `after`: begin with the first event that was recorded at this time or later; in the formats of `as_of` */
  since?: string;
  /** Only these types, separated by commas: peg_break.started, peg_break.ended, agreed_break.started, agreed_break.ended, peg_quote.lost, peg_quote.back, flow_anomaly.detected, system.health_drift, event.retracted */
  types?: string;
  /** Only events about these stables: addresses separated by commas. A flow matches at either end. Events about the service itself are always included. */
  stable?: string;
  /** Only peg breaks of this severity */
  severity?: "mild" | "severe";
  /**
   * Only peg breaks whose max_deviation_bps is at least this, as far as is known
   * @exclusiveMin 0
   */
  min_bps?: number;
  /**
   * Only peg breaks that have lasted at least this long, as far as is known
   * @exclusiveMin 0
   * @max 4294967295
   */
  min_seconds?: number;
  /**
   * Only peg breaks whose standing_tokens is at least this; not those of which it is unknown, nor agreed breaks
   * @exclusiveMin 0
   * @max 1000000
   */
  min_size?: number;
  /**
   * Maximum number of rows in an answer
   * @min 1
   * @max 500
   * @default 50
   */
  limit?: number;
  /** A point in the past: ISO 8601 timestamp or date (midnight UTC), unix epoch seconds, or minutes, hours or days back from now */
  as_of?: string;
  /** Answers with what this service had published by then, and with nothing that it learned later; in the formats of `as_of`, which is the same instant if it is omitted. Without it, the newest revision is returned, whenever it was published */
  known_at?: string;
}

export interface ListEventsData {
  /** In the order in which they were recorded, oldest first */
  events: Event[];
  /** The `after` of the next request, even if there are no more events yet */
  next_after: number;
  /** Start of what has been searched; null before the first search */
  searched_from: string | null;
  /** End of what has been searched; null before the first search. Every event of the requested types is in the log from searched_from on, apart from the missing ranges of coverage */
  searched_until: string | null;
  /** Nothing is missing from searched_from to here: an answer without results means that there were none in that time; null if something is missing at its start */
  complete_until: string | null;
  /** How much of what was asked for was measured, and why the rest was not */
  coverage: Coverage;
  /** Whether there is another page already */
  has_more: boolean;
  /**
   * The requested point in time; not in live answers
   * @format date-time
   */
  as_of?: string;
  /**
   * The requested time of knowledge; only if it was requested
   * @format date-time
   */
  known_at?: string;
}

export interface StreamEventsParams {
  /** Only these types, separated by commas: peg_sample, peg_break.started, peg_break.ended, agreed_break.started, agreed_break.ended, peg_quote.lost, peg_quote.back, flow_anomaly.detected, system.health_drift, event.retracted */
  types?: string;
  /** Only events about these stables: addresses separated by commas. A flow matches at either end. Events about the service itself are always included. */
  stable?: string;
  /** Only peg breaks of this severity */
  severity?: "mild" | "severe";
  /**
   * Only peg breaks whose max_deviation_bps is at least this, as far as is known
   * @exclusiveMin 0
   */
  min_bps?: number;
  /**
   * Only peg breaks that have lasted at least this long, as far as is known
   * @exclusiveMin 0
   * @max 4294967295
   */
  min_seconds?: number;
  /**
   * Only peg breaks whose standing_tokens is at least this; not those of which it is unknown, nor agreed breaks
   * @exclusiveMin 0
   * @max 1000000
   */
  min_size?: number;
  /**
   * `sequence` of the last event that you have; 0 for the beginning of the log
   * @pattern ^\d{1,9}$
   */
  after?: string;
}

/** Messages in the format of server-sent events, with JSON as data */
export type StreamEventsData = string;
