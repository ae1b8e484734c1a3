import type { OperationParams } from '../../typescript/src/operations.js'

/** A tool is a question about the API's answer to one operation, whose parameters and answer the OpenAPI document describes. */
type Tool = {
  operation: keyof OperationParams
  /** The operation that answers about all stables, if no address is given. */
  ofAll?: keyof OperationParams
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
    ofAll: 'listAllPegEvents',
    parts: ['events'],
    title: 'Breaks of the peg',
    description: `When stables left their peg, how far, for how long and in which direction, newest first. Without address: all stables, those in progress at some time since from (24 hours before if omitted); with it, all breaks of one, and from is not taken. A severe row lies inside the time of a mild one of the same stable if that lasted 5 minutes: it is the same episode, so do not add them. A duration is the time beyond the limit of the row: mild 10 bps, severe 50. Nothing is missing from searched_from to complete_until: quote these for how far an answer is complete.`,
  },
  get_exit_cost: {
    operation: 'getLiquidity',
    parts: ['exit_cost', 'depth_at_bps'],
    title: 'What selling costs',
    description: `What selling a size costs: give size in whole tokens and read exit_cost (null without size), in basis points below 1.00 pathUSD for each token. Fees and gas are not in it. Also the depth within 10, 50 and 100 basis points.`,
  },
  get_roles: {
    operation: 'getRoles',
    parts: ['roles'],
    title: 'Who controls a stable',
    description: `Which accounts may mint up to the supply cap and burn (ISSUER_ROLE), pause, burn what blocked accounts hold (BURN_BLOCKED_ROLE) or any account holds (BURN_AT_ROLE), and administer a stable, and since when.`,
  },
  get_flows: {
    operation: 'getFlows',
    parts: ['edges', 'nodes'],
    title: 'Flows between stables',
    description: `What flowed between stables in 1, 6 or 24 hours: swaps on the exchange and trades by transfers, not mints, burns, bridges or plain transfers. Give stable for the edges of one. The net flow out of a stable is outbound_usd minus inbound_usd of its node. For a week, call it with hours=24 and as_of seven fixed times that are a day apart, and add.`,
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
