/** The logarithm of the gamma function for x > 0, to about 1e-15: Lanczos' approximation, g = 7, nine terms. */
function logGamma(x: number): number {
  const [first = 0, ...coefficients] = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ]
  const series = coefficients.reduce((sum, term, i) => sum + term / (x + i), first)
  const t = x + 6.5
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(series)
}

/** The continued fraction of the incomplete beta function, by Lentz's method; converges for x < (a + 1) / (a + b + 2). */
function betaFraction(x: number, a: number, b: number): number {
  const TINY = 1e-300
  const guarded = (value: number): number => (Math.abs(value) < TINY ? TINY : value)
  let c = 1
  let d = 1 / guarded(1 - ((a + b) * x) / (a + 1))
  let fraction = d
  for (let m = 1; m < 1000; m++) {
    for (const term of [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]) {
      d = 1 / guarded(1 + term * d)
      c = guarded(1 + term / c)
      fraction *= c * d
    }
    if (Math.abs(c * d - 1) < 1e-16) break
  }
  return fraction
}

/** The regularized incomplete beta function I_x(a, b); `rest` is 1 − x, which may be too small to be left of x. */
function incompleteBeta(x: number, complement: number, a: number, b: number): number {
  if (x <= 0) return 0
  if (complement <= 0) return 1
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(complement))
  if (x < (a + 1) / (a + b + 2)) return (front * betaFraction(x, a, b)) / a
  return 1 - (front * betaFraction(complement, b, a)) / b
}

/** The probability that a variable with Student's t-distribution of `freedom` degrees is at least `t`. */
export function studentTail(t: number, freedom: number): number {
  const sum = freedom + t * t
  const half = incompleteBeta(freedom / sum, (t * t) / sum, freedom / 2, 0.5) / 2
  return t >= 0 ? half : 1 - half
}

const quantiles = new Map<number, number>()

/** The value that such a variable exceeds with a probability of 0.025. Kept for each number of degrees. */
export function studentQuantile(freedom: number): number {
  const cached = quantiles.get(freedom)
  if (cached !== undefined) return cached
  // 12.706... is that of one degree, the largest.
  let [low, high] = [1.9, 12.8]
  for (let i = 0; i < 60; i++) {
    const mid = (low + high) / 2
    if (studentTail(mid, freedom) > 0.025) low = mid
    else high = mid
  }
  quantiles.set(freedom, high)
  return high
}
