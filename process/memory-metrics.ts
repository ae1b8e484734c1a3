import { Counter, Gauge, type Registry } from 'prom-client'
import type { Memories, Memory } from './memory.js'

/** Adds to `registry` what each memory holds until when, how large it is and may become, and how often it was asked, as of each scrape. */
export function showMemories(registry: Registry, memories: Memories): void {
  const registers = [registry]
  const addGauge = (name: string, help: string, figureOf: (memory: Memory) => number): void => {
    const collect = (): void => {
      gauge.reset()
      for (const memory of memories.all())
        gauge.inc({ memory: memory.description.name, unit: memory.unit }, figureOf(memory))
    }
    const gauge = new Gauge({ name, help, labelNames: ['memory', 'unit'] as const, registers, collect })
  }
  addGauge('plumbline_memory_size', 'What is kept instead of reading or computing it again', ({ size }) => size)
  addGauge('plumbline_memory_limit', 'Largest size; +Inf if all of its kind is kept', ({ limit }) => limit)
  const info = new Gauge({
    name: 'plumbline_memory_info',
    help: 'What a memory holds, and until when that is valid; always 1',
    labelNames: ['memory', 'holds', 'until'] as const,
    registers,
    collect: () => {
      info.reset()
      for (const { description } of memories.all()) {
        const { name: memory, holds, until } = description
        info.set({ memory, holds, until }, 1)
      }
    },
  })
  const lookups = new Counter({
    name: 'plumbline_memory_lookups_total',
    help: 'Lookups in a memory, by result: hit or miss',
    labelNames: ['memory', 'result'] as const,
    registers,
    collect: () => {
      lookups.reset()
      for (const { description, lookups: counts } of memories.all())
        for (const result of ['hit', 'miss'] as const) lookups.inc({ memory: description.name, result }, counts[result])
    },
  })
}
