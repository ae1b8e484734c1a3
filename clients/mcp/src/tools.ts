import type { OperationParams } from '../../typescript/src/operations.js'

/** A tool is a question about the API's answer to one operation, whose parameters and answer the OpenAPI document describes. */
type Tool = {
  operation: keyof OperationParams
  /** The parts of the answer whose own fields its schema lists. */
  parts: readonly string[]
  title: string
  description: string
}

/** The tools by name. All of them only read. */
export const TOOLS: Readonly<Record<string, Tool>> = {
  list_stablecoins: {
    operation: 'listStablecoins',
    parts: ['stablecoins'],
    title: 'Stablecoins',
    description: `Every stablecoin of the chain with its address, price, supply, policy, risk score and open peg break. Start here: the other tools take addresses. Symbols are not unique; symbol_shared marks those that several stables have.`,
  },
  get_peg: {
    operation: 'getPeg',
    parts: ['current', 'windows'],
    title: 'Price against the peg',
    description: `What one token of a stable sells for, how far that is from 1 in basis points, and the last hour, day and week.`,
  },
  list_peg_breaks: {
    operation: 'listPegEvents',
    parts: ['events'],
    title: 'Breaks of the peg',
    description: `When a stable left its peg, how far, for how long and in which direction, newest first. An empty list means that there were none from searched_from to complete_until, and nothing about other times.`,
  },
  get_exit_cost: {
    operation: 'getLiquidity',
    parts: ['exit_cost', 'depth_at_bps'],
    title: 'What selling costs',
    description: `What selling or buying a size costs: give size in whole tokens and read exit_cost, in basis points of the peg. Also the depth within 10, 50 and 100 basis points.`,
  },
  get_roles: {
    operation: 'getRoles',
    parts: ['roles'],
    title: 'Who controls a stable',
    description: `Which accounts may mint (ISSUER_ROLE), pause, burn blocked balances and administer a stable, and since when.`,
  },
  get_flows: {
    operation: 'getFlows',
    parts: ['edges', 'nodes'],
    title: 'Flows between stables',
    description: `What flowed between stables in the last 1, 6 or 24 hours. The net flow out of a stable is outbound_usd minus inbound_usd of its node. For a week, call it seven times with hours=24 and as_of now, 1d, 2d and so on, and add.`,
  },
  get_risk: {
    operation: 'getRisk',
    parts: ['components'],
    title: 'Risk of a stable',
    description: `A score from 0 to 100, higher is riskier, with its components, reasons and formula.`,
  },
  get_reserves: {
    operation: 'getReserves',
    parts: ['backing'],
    title: 'Backing of a stable',
    description: `The market value of the supply, and what the issuer says that it holds; backing is null if nothing is known. It is no proof of reserves.`,
  },
}
