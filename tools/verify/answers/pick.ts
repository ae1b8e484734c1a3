import { keccak256, toHex } from 'viem'

/** Numbers below any n that the same seed and question always give, in the same order. */
export function picker(seed: number, question: number): (n: number) => number {
  let calls = 0
  return (n) => Number(BigInt(keccak256(toHex(`${seed}:${question}:${calls++}`))) % BigInt(Math.max(1, n)))
}
