// A request's figures so far. Every piece of an answer carries them, so that a reader of the stream can bill the last
// value seen when either side goes away.
import type { CpuAccount } from './step-clock.ts'

/** One request's counters; they only grow. */
export type CellUsage = {
  readonly account: CpuAccount
  promptTokens: number
  completionTokens: number
}

/** The field `ergon` of every chunk: cumulative CPU and time on a GPU in nanoseconds as text, and tokens. */
export type UsageField = {
  readonly cpu_ns: string
  /** Absent until a step ran on a GPU. */
  readonly gpu_ns?: string
  readonly prompt_tokens: number
  readonly completion_tokens: number
}

export const usageField = (usage: CellUsage): UsageField => ({
  cpu_ns: usage.account.cpuNs.toString(),
  ...(usage.account.gpuNs === 0n ? {} : { gpu_ns: usage.account.gpuNs.toString() }),
  prompt_tokens: usage.promptTokens,
  completion_tokens: usage.completionTokens,
})
