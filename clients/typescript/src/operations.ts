// Made from the OpenAPI document by `npm run examples`.
import type { Paged } from './pages.js'
import type { RequestOptions } from './send.js'
import type { ExportFlowsData, ExportFlowsParams, GetAllPegSeriesData, GetAllPegSeriesParams, GetAnalysisData, GetAnalysisParams, GetDepthData, GetDepthParams, GetDepthSeriesData, GetDepthSeriesParams, GetFeeEconomicsData, GetFeeEconomicsParams, GetFlowHistoryData, GetFlowHistoryParams, GetFlowsData, GetFlowsParams, GetHoldersData, GetHoldersParams, GetIssuanceData, GetIssuanceParams, GetLiquidityData, GetLiquidityParams, GetLiquiditySeriesData, GetLiquiditySeriesParams, GetPegAveragesData, GetPegAveragesParams, GetPegData, GetPegParams, GetPegSeriesData, GetPegSeriesParams, GetPegWindowSeriesData, GetPegWindowSeriesParams, GetReservesData, GetReservesParams, GetRewardsData, GetRewardsParams, GetRiskData, GetRiskParams, GetRiskSeriesData, GetRiskSeriesParams, GetRolesData, GetRolesParams, GetStablecoinData, GetStablecoinParams, GetStatusData, GetSupplySeriesData, GetSupplySeriesParams, ListAllPegEventsData, ListAllPegEventsParams, ListEventsData, ListEventsParams, ListFlowAnomaliesData, ListFlowAnomaliesParams, ListFlowScoresData, ListFlowScoresParams, ListPegEventsData, ListPegEventsParams, ListStablecoinsData, ListStablecoinsParams } from './types.js'

/** Types of events that this version knows. */
export const EVENT_TYPES = ['peg_break.started', 'peg_break.ended', 'agreed_break.started', 'agreed_break.ended', 'peg_quote.lost', 'peg_quote.back', 'flow_anomaly.detected', 'system.health_drift', 'event.retracted'] as const

/** Where each operation is, and the array of rows in the pages of those that have pages. */
export const OPERATIONS = {
  listStablecoins: { path: '/api/v1/stablecoins', rows: 'stablecoins' },
  getStablecoin: { path: '/api/v1/stablecoins/{address}' },
  getAnalysis: { path: '/api/v1/stablecoins/{address}/analysis' },
  getPeg: { path: '/api/v1/stablecoins/{address}/peg' },
  getPegAverages: { path: '/api/v1/stablecoins/{address}/peg/averages' },
  listPegEvents: { path: '/api/v1/stablecoins/{address}/peg-events', rows: 'events' },
  listAllPegEvents: { path: '/api/v1/stablecoins/peg-events', rows: 'events' },
  getIssuance: { path: '/api/v1/stablecoins/{address}/issuance' },
  getHolders: { path: '/api/v1/stablecoins/{address}/holders' },
  getRewards: { path: '/api/v1/stablecoins/{address}/rewards' },
  getRoles: { path: '/api/v1/stablecoins/{address}/roles' },
  getFeeEconomics: { path: '/api/v1/fee-economics/overview', rows: 'stablecoins' },
  getRisk: { path: '/api/v1/stablecoins/{address}/risk' },
  getReserves: { path: '/api/v1/stablecoins/{address}/reserves' },
  getDepth: { path: '/api/v1/stablecoins/{address}/depth' },
  getLiquidity: { path: '/api/v1/stablecoins/{address}/liquidity' },
  getFlows: { path: '/api/v1/stablecoins/flows' },
  getFlowHistory: { path: '/api/v1/stablecoins/flows/history' },
  listFlowAnomalies: { path: '/api/v1/stablecoins/flow-anomalies', rows: 'anomalies' },
  listFlowScores: { path: '/api/v1/stablecoins/flows/scores', rows: 'scores' },
  exportFlows: { path: '/api/v1/stablecoins/flows/export', rows: 'data' },
  getPegSeries: { path: '/api/v1/stablecoins/{address}/peg/series', rows: 'data' },
  getSupplySeries: { path: '/api/v1/stablecoins/{address}/supply/series', rows: 'data' },
  getRiskSeries: { path: '/api/v1/stablecoins/{address}/risk/series', rows: 'data' },
  getAllPegSeries: { path: '/api/v1/stablecoins/peg/series' },
  getPegWindowSeries: { path: '/api/v1/stablecoins/{address}/peg/windows/series' },
  getDepthSeries: { path: '/api/v1/stablecoins/{address}/depth/series' },
  getLiquiditySeries: { path: '/api/v1/stablecoins/{address}/liquidity/series' },
  getStatus: { path: '/api/v1/status' },
  listEvents: { path: '/api/v1/events', rows: 'events' },
} as const

export type OperationParams = {
  listStablecoins: ListStablecoinsParams
  getStablecoin: GetStablecoinParams
  getAnalysis: GetAnalysisParams
  getPeg: GetPegParams
  getPegAverages: GetPegAveragesParams
  listPegEvents: ListPegEventsParams
  listAllPegEvents: ListAllPegEventsParams
  getIssuance: GetIssuanceParams
  getHolders: GetHoldersParams
  getRewards: GetRewardsParams
  getRoles: GetRolesParams
  getFeeEconomics: GetFeeEconomicsParams
  getRisk: GetRiskParams
  getReserves: GetReservesParams
  getDepth: GetDepthParams
  getLiquidity: GetLiquidityParams
  getFlows: GetFlowsParams
  getFlowHistory: GetFlowHistoryParams
  listFlowAnomalies: ListFlowAnomaliesParams
  listFlowScores: ListFlowScoresParams
  exportFlows: ExportFlowsParams
  getPegSeries: GetPegSeriesParams
  getSupplySeries: GetSupplySeriesParams
  getRiskSeries: GetRiskSeriesParams
  getAllPegSeries: GetAllPegSeriesParams
  getPegWindowSeries: GetPegWindowSeriesParams
  getDepthSeries: GetDepthSeriesParams
  getLiquiditySeries: GetLiquiditySeriesParams
  getStatus: Record<string, never>
  listEvents: ListEventsParams
}

export type Operations = {
  /** Every tracked stable with its peg, supply and policy. */
  listStablecoins: (params?: ListStablecoinsParams, options?: RequestOptions) => Paged<ListStablecoinsData, ListStablecoinsData['stablecoins'][number]>
  /** One stable with its peg, supply, policy, latest supply events and role holders. */
  getStablecoin: (params: GetStablecoinParams, options?: RequestOptions) => Promise<GetStablecoinData>
  /** A briefing on one stable: its origin, backing, issuer and risks. It has a price. */
  getAnalysis: (params: GetAnalysisParams, options?: RequestOptions) => Promise<GetAnalysisData>
  /** Price against the reference stable, and its 1h, 24h and 7d windows. */
  getPeg: (params: GetPegParams, options?: RequestOptions) => Promise<GetPegData>
  /** Time-weighted and volume-weighted average prices over 1h, 24h and 7d. */
  getPegAverages: (params: GetPegAveragesParams, options?: RequestOptions) => Promise<GetPegAveragesData>
  /** Breaks of the peg, newest first. */
  listPegEvents: (params: ListPegEventsParams, options?: RequestOptions) => Paged<ListPegEventsData, ListPegEventsData['events'][number]>
  /** Breaks of the peg of all stables since a time, newest first. */
  listAllPegEvents: (params?: ListAllPegEventsParams, options?: RequestOptions) => Paged<ListAllPegEventsData, ListAllPegEventsData['events'][number]>
  /** Mints and burns of a stable over 24h, 7d and 30d. */
  getIssuance: (params: GetIssuanceParams, options?: RequestOptions) => Promise<GetIssuanceData>
  /** Who holds a stable, and how concentrated. */
  getHolders: (params: GetHoldersParams, options?: RequestOptions) => Promise<GetHoldersData>
  /** Rewards paid to the holders of a stable, their funders, and how many holders take part. */
  getRewards: (params: GetRewardsParams, options?: RequestOptions) => Promise<GetRewardsData>
  /** Who may mint, pause and administer a stable, now or at any time. */
  getRoles: (params: GetRolesParams, options?: RequestOptions) => Promise<GetRolesData>
  /** Which stables are chosen for fees, and what validators were paid in each. */
  getFeeEconomics: (params?: GetFeeEconomicsParams, options?: RequestOptions) => Paged<GetFeeEconomicsData, GetFeeEconomicsData['stablecoins'][number]>
  /** How risky a stable is, and what the score is made of. */
  getRisk: (params: GetRiskParams, options?: RequestOptions) => Promise<GetRiskData>
  /** What backs a stable on this chain, now or at any time. */
  getReserves: (params: GetReservesParams, options?: RequestOptions) => Promise<GetReservesData>
  /** Price and slippage by size, selling and buying, now or at any time. */
  getDepth: (params: GetDepthParams, options?: RequestOptions) => Promise<GetDepthData>
  /** Prices that can be traded at: deviation and spread by size, depth by bps, exit cost. */
  getLiquidity: (params: GetLiquidityParams, options?: RequestOptions) => Promise<GetLiquidityData>
  /** Flows between stables in the last hours, largest first. */
  getFlows: (params?: GetFlowsParams, options?: RequestOptions) => Promise<GetFlowsData>
  /** Flows between stables in any window, in total and by hour. It has a price. */
  getFlowHistory: (params?: GetFlowHistoryParams, options?: RequestOptions) => Promise<GetFlowHistoryData>
  /** 15-minute windows in which unusually much or little flowed between two stables. */
  listFlowAnomalies: (params?: ListFlowAnomaliesParams, options?: RequestOptions) => Paged<ListFlowAnomaliesData, ListFlowAnomaliesData['anomalies'][number]>
  /** How unusual the last completed 15 minutes were on every edge, by its own history. */
  listFlowScores: (params?: ListFlowScoresParams, options?: RequestOptions) => Paged<ListFlowScoresData, ListFlowScoresData['scores'][number]>
  /** Every movement between stables in a range of time. It has a price. */
  exportFlows: (params?: Omit<ExportFlowsParams, 'format'>, options?: RequestOptions) => Paged<ExportFlowsData, ExportFlowsData['data'][number]>
  /** Price against the reference stable by bucket. */
  getPegSeries: (params: Omit<GetPegSeriesParams, 'format'>, options?: RequestOptions) => Paged<GetPegSeriesData, GetPegSeriesData['data'][number]>
  /** Supply and cap by bucket. */
  getSupplySeries: (params: Omit<GetSupplySeriesParams, 'format'>, options?: RequestOptions) => Paged<GetSupplySeriesData, GetSupplySeriesData['data'][number]>
  /** Risk by bucket. */
  getRiskSeries: (params: Omit<GetRiskSeriesParams, 'format'>, options?: RequestOptions) => Paged<GetRiskSeriesData, GetRiskSeriesData['data'][number]>
  /** Prices of all stables by bucket, in columns. */
  getAllPegSeries: (params?: GetAllPegSeriesParams, options?: RequestOptions) => Promise<GetAllPegSeriesData>
  /** The 1h, 24h and 7d windows at every step of a range. */
  getPegWindowSeries: (params: GetPegWindowSeriesParams, options?: RequestOptions) => Promise<GetPegWindowSeriesData>
  /** Slippage by size and bucket, selling and buying. */
  getDepthSeries: (params: GetDepthSeriesParams, options?: RequestOptions) => Promise<GetDepthSeriesData>
  /** Deviation and spread by size, and depth within 50 bps, at every step of a range. */
  getLiquiditySeries: (params: GetLiquiditySeriesParams, options?: RequestOptions) => Promise<GetLiquiditySeriesData>
  /** How far behind the chain each dataset is, gaps, checks and jobs. */
  getStatus: (params?: Record<string, never>, options?: RequestOptions) => Promise<GetStatusData>
  /** Peg breaks, lost quotes, flow anomalies and the health of the service, as webhooks deliver them. */
  listEvents: (params?: ListEventsParams, options?: RequestOptions) => Paged<ListEventsData, ListEventsData['events'][number]>
}
