export const HELP = `plumbline COMMAND [--url URL] [--json]

  list [--as-of T]                  every stablecoin: price, deviation, supply, open breaks
  peg STABLE [--as-of T]            what one token sells for, and the last 1h, 24h and 7d
  breaks [STABLE] [--since T] [--severity mild|severe]
                                    peg breaks that were under way since T (1d), and how far the answer is complete
  watch [STABLE ...]                samples and breaks as they come, until Ctrl-C
  verify STABLE [--at T] [--rpc URL] [--logs]
                                    compares an answer with what a node of the chain says: exits with 0 if all of it
                                    matches, 1 if something does not, 2 if something could not be checked

  STABLE  a symbol or an address
  T       a time back from now (90m, 3h, 7d) or an instant (2026-07-01T12:00:00Z)
  --url   where the service is, else PLUMBLINE_URL (http://127.0.0.1:3000)
  --rpc   a node of the chain, else PLUMBLINE_RPC_URL
  --logs  computes prices and depth from all logs of the exchange: the node needs no old state
  --json  the answer as JSON

A subscription key is in PLUMBLINE_KEY, or in the file that PLUMBLINE_KEY_FILE names.
Every other failure is one line on standard error, and exits with 2.
`
