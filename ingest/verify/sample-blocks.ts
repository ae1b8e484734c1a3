import { keccak256, toHex } from 'viem'

/** `count` different block numbers from `first` to `last`, all of them where there are no more, oldest first. */
export function sampleBlocks(first: number, last: number, count: number, seed: number): number[] {
  const size = last - first + 1
  if (size <= count) return Array.from({ length: Math.max(size, 0) }, (_, i) => first + i)
  const picked = new Set<number>()
  for (let i = 0; picked.size < count; i++) {
    picked.add(first + Number(BigInt(keccak256(toHex(`${seed}:${i}`))) % BigInt(size)))
  }
  return [...picked].sort((a, b) => a - b)
}
