// The use of a call so far. Our cells report it in every chunk, and their figures never fall. An upstream has no meter:
// its tokens are counted and billed at the catalogue's energy, until it declares its usage. The declared usage then
// replaces the count, whether it is more or less.
import { invariant } from '#base/errors.ts'
import { add, nj, type Nj } from '#base/units.ts'
import type { EnergyElsewhere } from '#charging/spend.ts'
import { fault } from '#contract/errors.ts'
import type { ModelOffer } from '#inference/catalogue.ts'
import { isCount } from './chunk.ts'
import type { TokenUsage, Usage } from '#inference/providers/provider.ts'

export type AnswerMeter = {
  /** The field `ergon` of a chunk or comment of our cell. */
  figures(field: unknown): Usage | undefined
  /** The request was sent. */
  asked(): void
  /** The caller left: the claim for its prompt, when nothing else is known. */
  left(): Usage | undefined
  /** That number of pieces came, without figures. */
  counted(tokens: number): Usage | undefined
  /** A whole answer of that number of bytes came, without figures. */
  weighed(bytes: number): Usage | undefined
  /** The upstream's own `usage`, as it came. */
  declared(usage: TokenUsage): Usage | undefined
  /** The counts to print; undefined when nothing was learned. */
  usage(): TokenUsage | undefined
}

const CPU_NS = /^\d{1,18}$/

/** The meter of a model cell: `{cpu_ns, gpu_ns?, prompt_tokens, completion_tokens}`, cumulative. */
export function cellMeter(cell: string, promptTokensMax: number): AnswerMeter {
  let last: { cpuNs: bigint; gpuNs: bigint; prompt: number; completion: number } | undefined
  let details: TokenUsage | undefined
  return {
    figures(field) {
      if (typeof field !== 'object' || field === null) throw lie(cell, 'no object')
      const {
        cpu_ns,
        gpu_ns = '0',
        prompt_tokens,
        completion_tokens,
      } = field as Record<string, unknown>
      if (typeof cpu_ns !== 'string' || !CPU_NS.test(cpu_ns)) throw lie(cell, 'cpu_ns')
      if (typeof gpu_ns !== 'string' || !CPU_NS.test(gpu_ns)) throw lie(cell, 'gpu_ns')
      if (!isCount(prompt_tokens) || !isCount(completion_tokens)) throw lie(cell, 'token counts')
      const cpuNs = BigInt(cpu_ns)
      if (last !== undefined && cpuNs < last.cpuNs) throw lie(cell, 'cpu_ns that shrank')
      const gpuNs = BigInt(gpu_ns)
      if (last !== undefined && gpuNs < last.gpuNs) throw lie(cell, 'gpu_ns that shrank')
      last = { cpuNs, gpuNs, prompt: prompt_tokens, completion: completion_tokens }
      return {
        used: { kind: 'cpu', cell, cpuNs, ...(gpuNs === 0n ? {} : { gpuNs }) },
        promptTokens: prompt_tokens,
        completionTokens: completion_tokens,
        ...(prompt_tokens > promptTokensMax && { promptExcess: prompt_tokens - promptTokensMax }),
      }
    },
    asked: () => undefined,
    left: () => undefined,
    counted: () => undefined,
    weighed: () => undefined,
    declared(usage) {
      details = usage
      return undefined
    },
    // Absent figures are not zero: a cell that never reported its use has failed.
    usage: () =>
      last && { ...details, promptTokens: last.prompt, completionTokens: last.completion },
  }
}

const lie = (cell: string, what: string) =>
  fault('upstream_failed', `Could not read the figures of ${cell}: ${what}`)

/**
 * Divisor for the tokens of an upstream that has not declared them. Few texts have more bytes per token, so the claim is
 * hardly ever too high, and a caller who leaves early still pays for the prompt. A claim that is too high (20,000 spaces
 * are 30 tokens) is corrected by the declared usage.
 */
export const BYTES_PER_TOKEN = 8

/** The meter of an upstream that has none: tokens seen × catalogue energy, method `model`. */
export function tokenMeter(
  offer: ModelOffer,
  source: EnergyElsewhere & { readonly meter: string },
  call: {
    readonly promptBytes: number
    /** The most tokens of the prompts, with those that the server may add. */
    readonly promptTokensMax: number
    /** The most that its contexts hold. */
    readonly contextTokens: number
    readonly tokensMax: number
  },
): AnswerMeter {
  let prompt = Math.floor(call.promptBytes / BYTES_PER_TOKEN)
  let promptExcess = 0
  let completion = 0
  let energyNj: Nj = catalogueEnergy(offer, prompt, completion)
  let details: TokenUsage | undefined
  let isAsked = false
  let isKnown = false

  const claim = (): Usage => {
    isKnown = true
    return {
      used: { kind: 'upstream', ...source, energyNj },
      promptTokens: prompt,
      completionTokens: completion,
      ...(promptExcess > 0 && { promptExcess }),
    }
  }
  return {
    figures: () => undefined,
    // A caller pays for the reading of the prompt, also when they leave before the answer.
    asked: () => void (isAsked = true),
    left: () => (isAsked && !isKnown ? claim() : undefined),
    counted(tokens) {
      // Whatever its server goes on to say: a caller pays for no more tokens than it asked for.
      const paid = Math.min(tokens, call.tokensMax - completion)
      completion += paid
      energyNj = add(energyNj, nj(offer.njPerCompletionToken * BigInt(paid)))
      return claim()
    },
    weighed(bytes) {
      completion = Math.min(Math.ceil(bytes / BYTES_PER_TOKEN), call.tokensMax)
      energyNj = catalogueEnergy(offer, prompt, completion)
      return claim()
    },
    declared(usage) {
      // A figure above the limit of the request, or above the model's context, is false: our count stands.
      if (usage.promptTokens > call.contextTokens || usage.completionTokens > call.tokensMax)
        return undefined
      // Nor is an answer of nothing what came.
      if (usage.completionTokens === 0 && completion > 0) return undefined
      details = usage
      // A prompt of nothing is one that was not counted. Tokens beyond the prompt may be the server's own system
      // prompt: for now they are not billed.
      if (usage.promptTokens > 0) prompt = Math.min(usage.promptTokens, call.promptTokensMax)
      promptExcess = Math.max(usage.promptTokens - prompt, 0)
      completion = usage.completionTokens
      energyNj = catalogueEnergy(offer, prompt, completion)
      return claim()
    },
    usage: () =>
      isKnown ? { ...details, promptTokens: prompt, completionTokens: completion } : undefined,
  }
}

/** The catalogue's energy of a number of tokens. */
export function catalogueEnergy(offer: ModelOffer, prompt: number, completion: number): Nj {
  invariant(prompt >= 0 && completion >= 0, 'negative token counts')
  return nj(
    BigInt(Math.ceil(prompt)) * offer.njPerPromptToken +
      BigInt(Math.ceil(completion)) * offer.njPerCompletionToken,
  )
}
