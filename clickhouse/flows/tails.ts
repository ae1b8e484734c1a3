/** How many extreme values a tail is fitted to, each number giving a fit of its own: those up to a quarter of all values. */
const FITTED = [2, 5, 10, 20, 40] as const

/** With so many values, those that are seldom but far out are among them, and two are too few to say anything. */
const ENOUGH = 100

/** How many extreme values a tail needs: the most it is fitted to, and the next one, which is the threshold. */
export const EXTREMES = FITTED[4] + 1

/** Values beyond which a tail lies: the most extreme first, at most `EXTREMES` of `count`, which are at least 8. */
export type Extremes = { extremes: readonly number[]; count: number; leastExcess: number }

type Fit = { peaks: number; threshold: number; excess: number }

/** The peaks over each threshold: how many, and the sum of their excesses, each of which is at least `leastExcess`. */
function fits({ extremes, count, leastExcess }: Extremes): Fit[] {
  return FITTED.filter((peaks) => peaks <= count / 4 && (peaks > FITTED[0] || count < ENOUGH)).map((peaks) => {
    const threshold = extremes[peaks] as number
    const sum = extremes.slice(0, peaks).reduce((total, value) => total + value - threshold, 0)
    return { peaks, threshold, excess: Math.max(sum, peaks * leastExcess) }
  })
}

/** The largest result over the fits of a tail. */
const overFits = (tail: Extremes, result: (fit: Fit) => number): number => Math.max(...fits(tail).map(result))

/** The probability that another value is at least the threshold of a fit. */
const shareBeyond = ({ count }: Extremes, { peaks }: Fit): number => (peaks + 1) / (count + 1)

/** 1 at the threshold, and 1 more for each sum of the excesses above it: the tail is a power of that. */
const distance = (value: number, { threshold, excess }: Fit): number => 1 + Math.max(0, value - threshold) / excess

/**
 * The probability that another value is at least `value`, by the tail alone: the largest of the fits. The excesses over the
 * threshold are exponential, and the next one given their sum has Pareto's distribution of the second kind, as for any
 * pivot of that sum; of logarithms, that is Hill's estimator (1975) with its uncertainty, exact for a Pareto tail.
 */
export const tailBeyond = (tail: Extremes, value: number): number =>
  overFits(tail, (fit) => shareBeyond(tail, fit) * distance(value, fit) ** -fit.peaks)

/** The value at which `tailBeyond` falls to `probability`. */
export const tailPoint = (tail: Extremes, probability: number): number =>
  overFits(tail, (fit) => fit.threshold + fit.excess * ((probability / shareBeyond(tail, fit)) ** (-1 / fit.peaks) - 1))

/** The mean of how far another value lies above `value`, where one that does not counts as 0: the integral of `tailBeyond`. */
export const meanExcess = (tail: Extremes, value: number): number =>
  overFits(
    tail,
    (fit) => (shareBeyond(tail, fit) * fit.excess * distance(value, fit) ** (1 - fit.peaks)) / (fit.peaks - 1),
  )
