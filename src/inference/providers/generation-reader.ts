// From an upstream's event stream to the events of one generation.
import { fault } from '#contract/errors.ts'
import { parseChunk, type ChunkChoice } from './chunk.ts'
import { createChunkTemplate } from './chunk-template.ts'
import { createEventStream } from './event-stream.ts'
import type { Meter } from './meter.ts'
import type {
  AnswerReader,
  GenerationCall,
  GenerationEvent,
  TokenUsage,
  Usage,
} from './provider.ts'
import { streamFault } from './upstream-error.ts'

const EVENT_BYTES_MAX = 1024 * 1024

export function createGenerationReader(
  call: GenerationCall,
  meter: Meter,
): AnswerReader<GenerationEvent> {
  const stream = createEventStream({ eventBytesMax: EVENT_BYTES_MAX })
  const template = createChunkTemplate(call.shape)
  const finished = new Set<number>()
  let done = false
  let broken: Error | undefined
  const tally = createTally(meter)
  // What an engine says after the last finish is not followed, so it is not billed.
  const isFinished = () => finished.size >= call.choices

  const addChoice = (
    { index, delta, logprobs, finish }: ChunkChoice,
    events: GenerationEvent[],
  ) => {
    if (index >= call.choices)
      throw fault('upstream_failed', `Could not read the upstream: choice ${index} unasked`)
    // An engine that repeats a finish, or speaks after it, is not followed.
    if (finished.has(index)) return
    if (Object.keys(delta).length > 0) events.push({ kind: 'delta', index, delta, logprobs })
    if (finish === undefined) return
    finished.add(index)
    events.push({ kind: 'finish', index, reason: finish })
  }

  const addChunk = (data: string, events: GenerationEvent[]) => {
    const token = finished.size === 0 ? template.tokenOf(data) : undefined
    if (token !== undefined) {
      tally.token()
      events.push(plainDelta(call.shape, template.index(), token))
      return
    }
    const chunk = parseChunk(data, call.shape)
    if (chunk.error !== undefined) {
      // What it used until here is in the same chunk, and is claimed before the end.
      broken = streamFault(data)
      done = true
    }
    const figures = chunk.ergon === undefined ? undefined : meter.figures(chunk.ergon)
    addUsed(figures, events)
    // A stranger's member of that name is no figure, and its tokens are counted like any other's.
    if (chunk.usage !== undefined) tally.declared(chunk.usage)
    else if (figures === undefined && !isFinished() && chunk.choices.some(hasToken)) tally.token()
    for (const choice of chunk.choices) addChoice(choice, events)
    template.learn(data, chunk)
  }

  return {
    isDone: () => done,
    push(bytes) {
      const events: GenerationEvent[] = []
      for (const item of stream.push(bytes)) {
        if (done) break
        if (item.kind === 'comment') addUsed(commentFigures(item.text, meter), events)
        else if (item.data === '[DONE]') done = true
        else addChunk(item.data, events)
      }
      const used = tally.take()
      return used === undefined ? events : [{ kind: 'used', ...used }, ...events]
    },
    end() {
      if (broken !== undefined) throw broken
      // [DONE] alone proves nothing, and some servers leave it out: the finish reasons count.
      if (finished.size < call.choices)
        throw fault('upstream_failed', 'Could not finish the answer: the upstream stopped early')
      const usage = meter.usage()
      if (usage === undefined)
        throw fault('upstream_failed', 'Could not bill the answer: the cell gave no figures')
      return [{ kind: 'end', usage }]
    },
  }
}

const plainDelta = (shape: 'chat' | 'text', index: number, token: string): GenerationEvent => ({
  kind: 'delta',
  index,
  delta: shape === 'chat' ? { content: token } : { text: token },
  logprobs: null,
  isPlain: true,
})

/** The tokens of one read, of an upstream that has no meter. */
function createTally(meter: Meter) {
  // Not in `used` yet: a claim for each token cost more than reading it.
  let tokens = 0
  let used: Usage | undefined
  const count = () => {
    if (tokens > 0) used = meter.counted(tokens) ?? used
    tokens = 0
  }
  return {
    token: () => void tokens++,
    declared(usage: TokenUsage) {
      count()
      used = meter.declared(usage) ?? used
    },
    take(): Usage | undefined {
      count()
      const taken = used
      used = undefined
      return taken
    },
  }
}

function addUsed(usage: Usage | undefined, events: GenerationEvent[]): void {
  if (usage !== undefined) events.push({ kind: 'used', ...usage })
}

export const hasToken = ({ delta }: ChunkChoice): boolean =>
  Boolean(delta.content ?? delta.text ?? delta.reasoning_content ?? delta.refusal) ||
  delta.tool_calls !== undefined

/** Our cells send their figures as comments during prefill; other servers' comments are chatter. */
function commentFigures(text: string, meter: Meter): Usage | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return undefined
    return meter.figures('ergon' in value ? value.ergon : value)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
