export interface Coverage {
  status: "complete" | "partial" | "unavailable";
  message: string;
  missing: {
    from: string;
    to: string;
    from_block: number | null;
    to_block: number | null;
    reason:
      | "not_read"
      | "before_history"
      | "unavailable"
      | "unpriced"
      | "not_sampled"
      | "not_searched";
  }[];
  missing_count: number;
  measured_from: string | null;
  measured_until: string | null;
}

export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  help: string;
  instance?: string;
  parameter?: string;
  errors?: {
    parameter: string;
    detail: string;
  }[];
  price?: string;
  currency?: string;
  coverage?: Coverage;
}

export type Event =
  | {
      id: string;
      sequence: number;
      occurred_at: string;
      recorded_at: string;
      published_at: string;
      event: "peg_break.started";
      data: {
        stable: string;
        severity: "mild" | "severe";
        direction: "below" | "above";
        started_at: string;
        max_deviation_bps: number;
        started_block: number;
        standing_tokens?: number;
        thin?: boolean;
      };
    }
  | {
      id: string;
      sequence: number;
      occurred_at: string;
      recorded_at: string;
      published_at: string;
      event: "peg_break.ended";
      data: {
        stable: string;
        severity: "mild" | "severe";
        direction: "below" | "above";
        started_at: string;
        max_deviation_bps: number;
        started_block: number;
        standing_tokens?: number;
        thin?: boolean;
        ended_at: string;
        ended_block: number;
        duration_seconds: number;
      };
    }
  | {
      id: string;
      sequence: number;
      occurred_at: string;
      recorded_at: string;
      published_at: string;
      event: "agreed_break.started";
      data: {
        stable: string;
        severity: "mild" | "severe";
        direction: "below" | "above";
        started_at: string;
        max_deviation_bps: number;
        started_block: number;
      };
    }
  | {
      id: string;
      sequence: number;
      occurred_at: string;
      recorded_at: string;
      published_at: string;
      event: "agreed_break.ended";
      data: {
        stable: string;
        severity: "mild" | "severe";
        direction: "below" | "above";
        started_at: string;
        max_deviation_bps: number;
        started_block: number;
        ended_at: string;
        ended_block: number;
        duration_seconds: number;
      };
    }
  | {
      id: string;
      sequence: number;
      occurred_at: string;
      recorded_at: string;
      published_at: string;
      event: "peg_quote.lost";
      data: {
        stable: string;
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
        started_at: string;
        started_block: number;
      };
    }
  | {
      id: string;
      sequence: number;
      occurred_at: string;
      recorded_at: string;
      published_at: string;
      event: "peg_quote.back";
      data: {
        stable: string;
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
        started_at: string;
        started_block: number;
        ended_at: string;
        ended_block: number;
        duration_seconds: number;
      };
    }
  | {
      id: string;
      sequence: number;
      occurred_at: string;
      recorded_at: string;
      published_at: string;
      event: "flow_anomaly.detected";
      data: {
        from_token: string;
        to_token: string;
        kind: "surge" | "drop" | "silence";
        window_start: string;
        window_end: string;
        observed_flow_usd: number;
        baseline_mean_usd: number;
        baseline_stddev_usd: number;
        z_score: number;
        tx_count: number;
        detected_at: string;
        baseline_windows: number;
        observations: number;
        active_mean_usd: number;
        active_stddev_usd: number;
        silent_windows: number | null;
        longest_silence_windows: number | null;
        silence_probability: number | null;
      };
    }
  | {
      id: string;
      sequence: number;
      occurred_at: string;
      recorded_at: string;
      published_at: string;
      event: "system.health_drift";
      data: {
        component: string;
        status: "ok" | "behind" | "stalled" | "overdue" | "gaps" | "disabled";
        lag_blocks: number | null;
        lag_seconds: number | null;
        detected_at: string;
      };
    }
  | {
      id: string;
      sequence: number;
      occurred_at: string;
      recorded_at: string;
      published_at: string;
      event: "event.retracted";
      data: {
        retracts: string;
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
        stables: string[];
        occurred_at: string;
        recorded_at: string;
        reason: "not_found" | "changed";
        original: Partial<Record<string, any>>;
      };
    };

export interface StreamReady {
  sequence: number;
}

export interface PegSample {
  stable: string;
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
  price_vs_refusd: number | null;
  spread_bps: number | null;
  buy_price: number | null;
  block_number: number;
  sampled_at: string;
}

export interface Delay {
  count: number;
  p50_seconds: number | null;
  p99_seconds: number | null;
}

export interface GetLivenessData {
  status: "ok";
}

export interface GetReadinessData {
  status: "ok";
  clickhouse: "ok";
  redis: "ok" | "not_configured";
  schema_version: number;
  jobs: {
    job: string;
    last_slot_at: string | null;
    last_success_at: string | null;
    lag_seconds: number | null;
  }[];
  detail: string | null;
}

export interface GetIndexData {
  name: "Plumbline";
  links: Partial<Record<string, string>>;
}

export interface ListKeysData {
  keys: {
    id: string;
    label: string;
    prefix: string;
    scopes: string[];
    requests_per_minute: number | null;
    created_at: string;
    revoked_at: string | null;
    last_used_at: string | null;
  }[];
  next_cursor: string | null;
}

export interface ListWebhooksData {
  webhooks: {
    id: string;
    label: string;
    url: string;
    event_types: (
      | "peg_break.started"
      | "peg_break.ended"
      | "agreed_break.started"
      | "agreed_break.ended"
      | "peg_quote.lost"
      | "peg_quote.back"
      | "flow_anomaly.detected"
      | "system.health_drift"
      | "event.retracted"
    )[];
    stable_filter: string[] | null;
    severity: "mild" | "severe" | null;
    min_bps: number | null;
    min_seconds: number | null;
    min_size: number | null;
    min_severity: "info" | "warning" | "critical" | null;
    format:
      | "plumbline"
      | "slack"
      | "discord"
      | "telegram"
      | "alertmanager"
      | "cloudevents";
    chat_id: string | null;
    quiet_hours: {
      from: string;
      to: string;
      time_zone: string;
      critical_passes: boolean;
    } | null;
    digest_minutes: number | null;
    state: "enabled" | "disabled" | "deleted";
    reason: "admin" | "gone" | "failing" | null;
    previous_secret_until: string | null;
    created_at: string;
    changed_at: string;
  }[];
  next_cursor: string | null;
}

export interface GetWebhookData {
  id: string;
  label: string;
  url: string;
  event_types: (
    | "peg_break.started"
    | "peg_break.ended"
    | "agreed_break.started"
    | "agreed_break.ended"
    | "peg_quote.lost"
    | "peg_quote.back"
    | "flow_anomaly.detected"
    | "system.health_drift"
    | "event.retracted"
  )[];
  stable_filter: string[] | null;
  severity: "mild" | "severe" | null;
  min_bps: number | null;
  min_seconds: number | null;
  min_size: number | null;
  min_severity: "info" | "warning" | "critical" | null;
  format:
    | "plumbline"
    | "slack"
    | "discord"
    | "telegram"
    | "alertmanager"
    | "cloudevents";
  chat_id: string | null;
  quiet_hours: {
    from: string;
    to: string;
    time_zone: string;
    critical_passes: boolean;
  } | null;
  digest_minutes: number | null;
  state: "enabled" | "disabled" | "deleted";
  reason: "admin" | "gone" | "failing" | null;
  previous_secret_until: string | null;
  created_at: string;
  changed_at: string;
  health: {
    last_success_at: string | null;
    failing_since: string | null;
    attempts_24h: number;
    successes_24h: number;
    pending: number;
  };
}

export interface ListWebhookDeliveriesData {
  deliveries: {
    delivery_id: number;
    kind: "event" | "test" | "replay" | "held" | "digest";
    event:
      | "peg_break.started"
      | "peg_break.ended"
      | "agreed_break.started"
      | "agreed_break.ended"
      | "peg_quote.lost"
      | "peg_quote.back"
      | "flow_anomaly.detected"
      | "system.health_drift"
      | "event.retracted"
      | "digest";
    event_id: string;
    state: "pending" | "successful" | "failed" | "canceled" | "held";
    digest_delivery_id: number | null;
    created_at: string;
    next_attempt_at: string | null;
    attempts: {
      attempt: number;
      outcome: "success" | "failure" | "canceled";
      status: number | null;
      error: string | null;
      response: string;
      started_at: string;
      duration_ms: number;
      next_attempt_at: string | null;
    }[];
  }[];
  next_cursor: string | null;
}

export interface ListStablecoinsData {
  as_of?: string;
  stablecoins: {
    address: string;
    symbol: string;
    symbol_shared: boolean;
    name: string;
    currency: string;
    truncated: ("symbol" | "name" | "currency")[];
    tier: "listed" | "unlisted";
    in_use: boolean;
    supply: {
      current: string;
      cap: string | null;
    } | null;
    policy: {
      type: "allow_all" | "reject_all" | "whitelist" | "blacklist" | "compound";
      policy_id: string;
      policy_admin: string | null;
      paused: boolean;
    } | null;
    peg: {
      price: number;
      spread_bps: number;
      buy_price: number | null;
      block_number: number;
      sampled_at: string;
      quoted: boolean;
      price_age_seconds: number;
    } | null;
    quote: {
      quoted: boolean;
      unquoted_since: string | null;
      unquoted_since_is_bound: boolean;
    } | null;
    coverage: Coverage;
    tracked: boolean;
    max_deviation_24h_bps: number | null;
    risk_score: number | null;
    open_break: {
      severity: "mild" | "severe";
      started_at: string;
      started_block: number;
    } | null;
  }[];
  next_cursor: string | null;
}

export interface GetStablecoinData {
  address: string;
  symbol: string;
  symbol_shared: boolean;
  name: string;
  currency: string;
  truncated: ("symbol" | "name" | "currency")[];
  tier: "listed" | "unlisted";
  in_use: boolean;
  supply: {
    current: string;
    cap: string | null;
  } | null;
  policy: {
    type: "allow_all" | "reject_all" | "whitelist" | "blacklist" | "compound";
    policy_id: string;
    policy_admin: string | null;
    paused: boolean;
  } | null;
  peg: {
    price: number;
    spread_bps: number;
    buy_price: number | null;
    block_number: number;
    sampled_at: string;
    quoted: boolean;
    price_age_seconds: number;
  } | null;
  quote: {
    quoted: boolean;
    unquoted_since: string | null;
    unquoted_since_is_bound: boolean;
  } | null;
  coverage: Coverage;
  tracked: boolean;
  max_deviation_24h_bps: number | null;
  risk_score: number | null;
  open_break: {
    severity: "mild" | "severe";
    started_at: string;
    started_block: number;
  } | null;
  as_of?: string;
  recent_supply_events: {
    kind: "mint" | "burn" | "burn_blocked" | "cap";
    account: string;
    amount: string;
    block_number: number;
    log_index: number;
    block_timestamp: string;
    tx_hash: string;
  }[];
  role_holders: {
    coverage: {
      status: "complete" | "partial" | "unavailable";
      message: string;
      missing: {
        from: string;
        to: string;
        from_block: number | null;
        to_block: number | null;
        reason:
          | "not_read"
          | "before_history"
          | "unavailable"
          | "unpriced"
          | "not_sampled"
          | "not_searched";
      }[];
      missing_count: number;
      measured_from: string | null;
      measured_until: string | null;
      roles_tracked: {
        name: string;
        powers: string;
      }[];
    };
    roles: {
      role: string;
      account: string;
      granted_at: string | null;
      granted_block: number | null;
      tx_hash: string | null;
      source: "event" | "probe";
    }[];
  };
}

export interface GetAnalysisData {
  as_of?: string;
  address: string;
  symbol: string;
  briefing: {
    origin_kind: "curated" | "measured";
    origin: string;
    backing: string;
    issuer_context: string;
    risk: {
      peg_risk: "low" | "medium" | "high" | "unrated";
      policy_risk: "low" | "medium" | "high" | "unrated";
      centralization_risk: "low" | "medium" | "high" | "unrated";
    };
    risk_basis: {
      peg_risk: string;
      policy_risk: string;
      centralization_risk: string;
    };
    sources: {
      title: string;
      url: string;
    }[];
    reviewed_on: string | null;
    measured_at: string | null;
  };
  coverage: Coverage;
}

export interface GetPegData {
  address: string;
  as_of?: string;
  current: {
    price_vs_refusd: number;
    spread_bps: number;
    buy_price: number | null;
    block_number: number;
    sampled_at: string;
    quoted: boolean;
    price_age_seconds: number;
  } | null;
  quote: {
    quoted: boolean;
    unquoted_since: string | null;
    unquoted_since_is_bound: boolean;
  } | null;
  coverage: Coverage;
  windows: {
    window: "1h" | "24h" | "7d";
    sample_count: number;
    unquoted_count: number;
    unquoted_share: number | null;
    mean_price: number | null;
    stddev_price: number | null;
    min_price: number | null;
    max_price: number | null;
    max_deviation_bps: number | null;
    seconds_outside_10bps: number | null;
    seconds_outside_50bps: number | null;
  }[];
  windows_as_of: string | null;
}

export interface GetPegAveragesData {
  address: string;
  as_of: string | null;
  windows_as_of: string;
  coverage: Coverage;
  windows: {
    window: "1h" | "24h" | "7d";
    twap: number | null;
    quoted_seconds: number;
    unquoted_seconds: number;
    unmeasured_seconds: number;
    vwap: number | null;
    trade_count: number;
    unvalued_trade_count: number;
    volume_tokens: number;
    volume_usd: string;
  }[];
}

export interface ListPegEventsData {
  address: string;
  events: {
    severity: "mild" | "severe";
    direction: "below" | "above";
    started_at: string;
    ended_at: string | null;
    duration_seconds: number;
    max_deviation_bps: number;
    started_block: number;
    ended_block: number | null;
    ongoing: boolean;
    standing_tokens: number | null;
    thin: boolean | null;
    published_at: string | null;
  }[];
  searched_from: string | null;
  searched_until: string | null;
  complete_until: string | null;
  coverage: Coverage;
  known_at?: string;
  next_cursor: string | null;
}

export interface ListAllPegEventsData {
  events: {
    address: string;
    symbol: string;
    symbol_shared: boolean;
    severity: "mild" | "severe";
    direction: "below" | "above";
    started_at: string;
    ended_at: string | null;
    duration_seconds: number;
    max_deviation_bps: number;
    started_block: number;
    ended_block: number | null;
    ongoing: boolean;
    standing_tokens: number | null;
    thin: boolean | null;
    published_at: string | null;
  }[];
  searched_from: string | null;
  searched_until: string | null;
  complete_until: string | null;
  coverage: Coverage;
  next_cursor: string | null;
}

export interface GetIssuanceData {
  address: string;
  as_of: string | null;
  windows_as_of: string;
  windows: {
    window: "24h" | "7d" | "30d";
    minted: string | null;
    minted_tokens: number | null;
    minted_pct: number | null;
    burned: string | null;
    burned_tokens: number | null;
    burned_pct: number | null;
    net_issuance: string | null;
    net_issuance_tokens: number | null;
    net_issuance_pct: number | null;
    mint_count: number;
    burn_count: number;
    supply_at_start: string | null;
    supply_at_start_tokens: number | null;
    supply_block_number: number | null;
    coverage: Coverage;
  }[];
  burn_surge: {
    ratio: number | null;
    baseline_days: number;
    baseline_burned: string | null;
    baseline_daily_tokens: number | null;
  };
  largest_mints: {
    kind: "mint" | "burn" | "burn_blocked";
    account: string;
    amount: string;
    block_number: number;
    log_index: number;
    block_timestamp: string;
    tx_hash: string;
    amount_tokens: number;
    label: string | null;
  }[];
  largest_burns: {
    kind: "mint" | "burn" | "burn_blocked";
    account: string;
    amount: string;
    block_number: number;
    log_index: number;
    block_timestamp: string;
    tx_hash: string;
    amount_tokens: number;
    label: string | null;
  }[];
  coverage: Coverage;
}

export interface GetHoldersData {
  address: string;
  as_of: string | null;
  holder_count: number | null;
  supply: string | null;
  supply_tokens: number | null;
  hhi: number | null;
  gini: number | null;
  top_10_pct: number | null;
  top_100_pct: number | null;
  top_holders: {
    rank: number;
    address: string;
    label: string | null;
    balance: string;
    balance_tokens: number;
    share_pct: number;
  }[];
  activity: {
    window: "24h" | "7d" | "30d";
    transfer_count: number;
    transferred: string;
    transferred_tokens: number;
    velocity: number | null;
    velocity_a_year: number | null;
    turnover_pct: number | null;
    new_holders: number;
    leaving_holders: number;
  } | null;
  coverage: Coverage;
}

export interface GetRewardsData {
  address: string;
  as_of: string | null;
  effective_apy_pct?: number | null;
  opted_in_supply?: string | null;
  opted_in_tokens?: number | null;
  global_reward_per_token?: string | null;
  distribution_count: number;
  distributed: {
    last_24h_tokens: number;
    last_7d_tokens: number;
    all_time_tokens: number;
  };
  opt_in: {
    recipient_count: number;
    distinct_recipients: number;
    redirected_count: number;
  };
  top_funders: {
    address: string;
    distribution_count: number;
    total_amount_tokens: number;
    label: string | null;
  }[];
  recent_distributions: {
    funder: string;
    amount_tokens: number;
    block_number: number;
    block_timestamp: string;
    tx_hash: string;
    funder_label: string | null;
  }[];
  coverage: Coverage;
}

export interface GetRolesData {
  address: string;
  as_of?: string;
  coverage: {
    status: "complete" | "partial" | "unavailable";
    message: string;
    missing: {
      from: string;
      to: string;
      from_block: number | null;
      to_block: number | null;
      reason:
        | "not_read"
        | "before_history"
        | "unavailable"
        | "unpriced"
        | "not_sampled"
        | "not_searched";
    }[];
    missing_count: number;
    measured_from: string | null;
    measured_until: string | null;
    roles_tracked: {
      name: string;
      powers: string;
    }[];
  };
  roles: {
    role: string;
    account: string;
    granted_at: string | null;
    granted_block: number | null;
    tx_hash: string | null;
    source: "event" | "probe";
  }[];
}

export interface GetFeeEconomicsData {
  as_of: string | null;
  totals: {
    users_electing: number;
    validators_electing: number;
    fees_distributed_7d_tokens: number;
    fees_distributed_all_time_tokens: number;
    distribution_count: number;
  };
  stablecoins: {
    address: string;
    symbol: string;
    name: string;
    users_electing: number;
    validators_electing: number;
    fees_received_24h_tokens: number;
    fees_received_7d_tokens: number;
    fees_received_all_time_tokens: number;
    share_of_fees_7d_pct: number | null;
    distribution_count: number;
  }[];
  next_cursor: string | null;
  recent_distributions: {
    validator: string;
    token: string;
    token_symbol: string;
    amount_tokens: number;
    block_number: number;
    block_timestamp: string;
    tx_hash: string;
    validator_label: string | null;
  }[];
  coverage: Coverage;
}

export interface GetRiskData {
  address: string;
  composite: number;
  components: {
    peg_risk: number;
    peg_break_risk: number;
    supply_risk: number;
    policy_risk: number;
  };
  computed_at: string;
  methodology: string;
  inputs: {
    quoted_count_24h: number;
    unquoted_count_24h: number;
    unquoted_share_24h: number | null;
    unquoted_since: string | null;
    stddev_bps_24h: number | null;
    max_deviation_bps_24h: number | null;
    has_open_mild: boolean;
    has_open_severe: boolean;
    mild_events_7d: number;
    severe_events_7d: number;
    supply: {
      current: string;
      cap: string | null;
    } | null;
    policy: {
      type: "allow_all" | "reject_all" | "whitelist" | "blacklist" | "compound";
      policy_id: string;
      paused: boolean;
    } | null;
    state_block_number: number | null;
    policy_events_7d: number;
  };
  extended: {
    score: number;
    version: string;
    is_complete: boolean;
    missing: string[];
    left_out: (
      | "peg"
      | "breaks"
      | "liquidity"
      | "concentration"
      | "issuance"
      | "policy"
    )[];
    components: {
      name:
        | "peg"
        | "breaks"
        | "liquidity"
        | "concentration"
        | "issuance"
        | "policy";
      score: number;
      weight: number;
      inputs: {
        name: string;
        value: number | boolean | string | null;
      }[];
      raised_most_by: {
        input: string;
        event: string;
        score: number;
        score_change: number;
      } | null;
      lowered_most_by: {
        input: string;
        event: string;
        score: number;
        score_change: number;
      } | null;
    }[];
    message: string;
  };
  coverage: Coverage;
  published_at: string;
  revision: number;
  is_newest_revision: boolean | null;
  known_at?: string;
}

export interface GetReservesData {
  address: string;
  market_value_usd: number | null;
  backing: {
    claimed_model: string;
    attestation_source: string | null;
    attested_at: string;
  } | null;
  total_backing_usd: number | null;
  reserves: {
    reserve_type:
      | "protocol_native"
      | "bridged_fiat"
      | "fiat_backed"
      | "crypto_mixed"
      | "crypto_backed"
      | "yield_wrapper"
      | "unknown";
    backing_usd: number | null;
    attestation_source: string | null;
    attested_at: string | null;
    verified_by: "service_curated" | "unverified";
    notes: {
      label: string;
      issuer: string;
      backing_model: string;
    };
  }[];
  computed_at: string;
  coverage: Coverage;
  published_at: string;
  revision: number;
  is_newest_revision: boolean | null;
  known_at?: string;
}

export interface GetDepthData {
  address: string;
  as_of: string | null;
  block_number: number | null;
  sampled_at: string | null;
  coverage: Coverage;
  sizes: {
    size_tokens: number;
    sell: {
      status: string;
      amount: string | null;
      price: number | null;
      slippage_bps: number | null;
    };
    buy: {
      status: string;
      amount: string | null;
      price: number | null;
      slippage_bps: number | null;
    };
  }[];
  at_size: {
    size_tokens: number;
    sell: {
      price: number | null;
      cost_bps: number | null;
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
    buy: {
      price: number | null;
      cost_bps: number | null;
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

export interface GetLiquidityData {
  address: string;
  as_of: string | null;
  block_number: number | null;
  sampled_at: string | null;
  sample_age_seconds: number | null;
  coverage: Coverage;
  route: string[] | null;
  sizes: {
    size_tokens: number;
    sell: {
      status: string;
      price: number | null;
      deviation_bps: number | null;
    };
    buy: {
      status: string;
      price: number | null;
      deviation_bps: number | null;
    };
    mid_price: number | null;
    half_spread_bps: number | null;
  }[];
  depth_at_bps: {
    bps: number;
    sell: {
      tokens: number | null;
      at_least_tokens: number | null;
      less_than_tokens: number | null;
    };
    buy: {
      tokens: number | null;
      at_least_tokens: number | null;
      less_than_tokens: number | null;
    };
  }[];
  supply: string | null;
  exit_share: {
    share: number | null;
    at_least: number | null;
    less_than: number | null;
  };
  exit_cost: {
    size_tokens: number;
    exit_cost_bps: number | null;
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

export interface GetFlowsData {
  window_hours: number;
  edges: {
    from: string;
    to: string;
    from_address: string;
    to_address: string;
    volume_usd: string;
    tx_count: number;
    unvalued_count: number;
    unvalued_in_raw: string;
    unvalued_out_raw: string;
  }[];
  nodes: {
    symbol: string;
    symbol_shared: boolean;
    address: string;
    inbound_usd: string;
    outbound_usd: string;
  }[];
  coverage: Coverage;
}

export interface GetFlowHistoryData {
  from: string;
  to: string;
  window_hours: number;
  edges: {
    from: string;
    to: string;
    from_address: string;
    to_address: string;
    volume_usd: string;
    tx_count: number;
    unvalued_count: number;
    unvalued_in_raw: string;
    unvalued_out_raw: string;
  }[];
  nodes: {
    symbol: string;
    symbol_shared: boolean;
    address: string;
    inbound_usd: string;
    outbound_usd: string;
  }[];
  series: {
    hour_start: string;
    volume_usd: string;
    tx_count: number;
    unvalued_count: number;
  }[];
  coverage: Coverage;
}

export interface ListFlowAnomaliesData {
  anomalies: {
    from_token: string;
    to_token: string;
    kind: "surge" | "drop" | "silence";
    window_start: string;
    window_end: string;
    observed_flow_usd: number;
    baseline_mean_usd: number;
    baseline_stddev_usd: number;
    z_score: number;
    tx_count: number;
    detected_at: string;
    baseline_windows: number;
    observations: number;
    active_mean_usd: number;
    active_stddev_usd: number;
    silent_windows: number | null;
    longest_silence_windows: number | null;
    silence_probability: number | null;
    published_at: string | null;
  }[];
  scored_until: string | null;
  searched_from: string | null;
  searched_until: string | null;
  complete_until: string | null;
  coverage: Coverage;
  known_at?: string;
  next_cursor: string | null;
}

export interface ListFlowScoresData {
  as_of?: string;
  window_start: string | null;
  window_end: string | null;
  edge_count: number;
  scored_count: number;
  scores: {
    from: string;
    to: string;
    from_address: string;
    to_address: string;
    observed_usd: string | null;
    baseline_windows: number | null;
    observations: number | null;
    active_share: number | null;
    median_active_usd: number | null;
    robust_z: number | null;
    expected_low_usd: number | null;
    expected_high_usd: number | null;
    activity_probability: number | null;
    is_by_hour: boolean;
    silent_windows: number | null;
    p_value: number | null;
    q_value: number | null;
    reasons: string[];
  }[];
  coverage: Coverage;
  next_cursor: string | null;
}

export interface ExportFlowsData {
  coverage: Coverage;
  data: {
    block_time: string;
    block_number: string;
    log_index: number;
    tx_hash: string;
    kind: "swap" | "transfer" | "bridge";
    from: string;
    to: string;
    from_address: string;
    to_address: string;
    account: string;
    amount_in: string;
    amount_out: string;
    usd_value: string | null;
    path: string[];
    remote_chain: string | null;
  }[];
  next_cursor: string | null;
}

export interface GetPegSeriesData {
  address: string;
  coverage: Coverage;
  interval: "1m" | "5m" | "1h" | "1d";
  data: {
    bucket_start: string;
    bucket_end: string;
    open: number | null;
    high: number | null;
    low: number | null;
    close: number | null;
    mean: number | null;
    seconds_outside_10bps: number | null;
    seconds_outside_50bps: number | null;
    sample_count: number;
    unquoted_count: number;
  }[];
  next_cursor: string | null;
}

export interface GetSupplySeriesData {
  address: string;
  coverage: Coverage;
  interval: "1m" | "5m" | "1h" | "1d";
  data: {
    bucket_start: string;
    bucket_end: string;
    supply: string | null;
    cap: string | null;
    minted: string;
    burned: string;
  }[];
  next_cursor: string | null;
}

export interface GetRiskSeriesData {
  address: string;
  coverage: Coverage;
  interval: "1m" | "5m" | "1h" | "1d";
  known_at?: string;
  data: {
    bucket_start: string;
    bucket_end: string;
    composite: number | null;
    peg_risk: number | null;
    peg_break_risk: number | null;
    supply_risk: number | null;
    policy_risk: number | null;
    methodology: string | null;
    composite_min: number | null;
    composite_max: number | null;
    revision: number | null;
    published_at: string | null;
    snapshot_count: number;
    extended: number | null;
    extended_version: string | null;
  }[];
  next_cursor: string | null;
}

export interface GetAllPegSeriesData {
  from: string;
  to: string;
  step_seconds: number;
  bucket_count: number;
  coverage: Coverage;
  stables: {
    address: string;
    symbol: string;
    low_bps: (number | null)[];
    high_bps: (number | null)[];
    last_bps: (number | null)[];
    unquoted_share: (number | null)[];
  }[];
}

export interface GetPegWindowSeriesData {
  address: string;
  from: string;
  to: string;
  step_seconds: number;
  bucket_count: number;
  coverage: Coverage;
  windows: {
    window: "1h" | "24h" | "7d";
    sample_count: number[];
    unquoted_count: number[];
    unquoted_share: (number | null)[];
    mean_price: (number | null)[];
    stddev_price: (number | null)[];
    min_price: (number | null)[];
    max_price: (number | null)[];
    max_deviation_bps: (number | null)[];
    seconds_outside_10bps: (number | null)[];
    seconds_outside_50bps: (number | null)[];
  }[];
}

export interface GetDepthSeriesData {
  address: string;
  from: string;
  to: string;
  step_seconds: number;
  bucket_count: number;
  coverage: Coverage;
  sizes: {
    size_tokens: number;
    sell_slippage_bps: (number | null)[];
    buy_slippage_bps: (number | null)[];
    is_sampled: boolean[];
  }[];
}

export interface GetLiquiditySeriesData {
  address: string;
  from: string;
  to: string;
  step_seconds: number;
  bucket_count: number;
  coverage: Coverage;
  sizes: {
    size_tokens: number;
    sell_deviation_bps: (number | null)[];
    buy_deviation_bps: (number | null)[];
    half_spread_bps: (number | null)[];
    is_sampled: boolean[];
  }[];
  depth_at_50bps: {
    sell: {
      tokens: (number | null)[];
      at_least_tokens: (number | null)[];
      less_than_tokens: (number | null)[];
    };
    buy: {
      tokens: (number | null)[];
      at_least_tokens: (number | null)[];
      less_than_tokens: (number | null)[];
    };
  };
}

export interface GetStatusData {
  at: string;
  head: {
    tag: string;
    block_number: number;
    block_time: string;
    seen_at: string;
  } | null;
  node: {
    noted_at: string;
    problems: (
      | "away"
      | "limits_rate"
      | "limits_ranges"
      | "drops_states"
      | "late"
      | "fails"
      | "unsteady"
    )[];
    calls_1m: {
      ok: number;
      limited: number;
      too_large: number;
      no_state: number;
      late: number;
      failed: number;
    };
    chain_changes_1h: number;
  } | null;
  newest_block: {
    block_number: number;
    block_time: string;
  } | null;
  catalogue: {
    block_number: number;
    to_block: number;
    blocks_per_second: number | null;
    eta_seconds: number | null;
  } | null;
  datasets: {
    dataset: string;
    newest_at: string | null;
    lag_blocks: number | null;
    lag_seconds: number | null;
    delay_1h: Delay;
    delay_24h: Delay;
  }[];
  gaps: {
    missing_blocks: number;
    declared_count: number;
    declared: {
      dataset: string;
      from_block: number;
      to_block: number;
      reason: string;
    }[];
  };
  storage: {
    least_free_share: number | null;
    replica_delay_seconds: number | null;
    readonly_tables: number | null;
    keeper_answers: boolean | null;
    replicas_away: number | null;
  };
  fees_kept_from: string | null;
  invariants: {
    started_at: string;
    ended_at: string;
    findings: {
      what: string;
      status: "match" | "mismatch" | "not checked";
      scope: string;
    }[];
  } | null;
  jobs: {
    job: string;
    period_seconds: number;
    last_slot_at: string | null;
    last_success_at: string | null;
    lag_seconds: number | null;
    is_late: boolean;
    waiting_slots: number;
    waiting_reason:
      | "history_not_read"
      | "blocks_missing"
      | "backfill_running"
      | null;
    waiting_until: string | null;
    catch_up: {
      due_slots: number;
      done_slots: number;
      oldest_slot_at: string;
      slots_per_second: number | null;
      eta_seconds: number | null;
    } | null;
    done_24h: number;
    failed_24h: number;
    median_ms_24h: number | null;
  }[];
}

export interface ListEventsData {
  events: Event[];
  next_after: number;
  searched_from: string | null;
  searched_until: string | null;
  complete_until: string | null;
  coverage: Coverage;
  has_more: boolean;
  as_of?: string;
  known_at?: string;
}

export type StreamEventsData = string;
