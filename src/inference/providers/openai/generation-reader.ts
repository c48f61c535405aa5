// Reads the events of one generation from an upstream's event stream.
import { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { parseChunk, type Chunk } from './chunk.ts'
import { createChunkTemplate } from './chunk-template.ts'
import { createEventStream, type StreamItem } from './event-stream.ts'
import { FollowedChoices, hasToken } from './followed-choices.ts'
import type { AnswerMeter } from './meter.ts'
import type {
  AnswerReader,
  GenerationCall,
  GenerationEvent,
  TokenUsage,
  Usage,
} from '#inference/providers/provider.ts'
import { streamFault } from './upstream-error.ts'

const EVENT_BYTES_MAX = 1024 * 1024

/** `tokensMax`: of each choice. */
export function createGenerationReader(
  call: GenerationCall,
  meter: AnswerMeter,
  tokensMax: number,
): AnswerReader<GenerationEvent> {
  const stream = createEventStream({ eventBytesMax: EVENT_BYTES_MAX })
  const template = createChunkTemplate(call.shape)
  const tally = createTally(meter)
  const choices = new FollowedChoices(call.choices, tokensMax, tally.token)
  let ended: 'done' | 'enough' | undefined
  let broken: Error | undefined

  const addChunk = (data: string, events: GenerationEvent[]) => {
    const token = choices.hasFinished ? undefined : template.tokenOf(data)
    if (token !== undefined) {
      const index = template.index()
      if (choices.count(index, events)) events.push(plainDelta(call.shape, index, token))
      return
    }
    const chunk = parseChunk(data, call.shape)
    if (chunk.error !== undefined) {
      // The use until here is in the same chunk, and is claimed before the end.
      broken = streamFault(data)
      ended = 'done'
    }
    if (chunk.ergon !== undefined) addUsed(meter.figures(chunk.ergon), events)
    for (const choice of chunk.choices) choices.add(choice, events)
    // It replaces the count.
    if (chunk.usage !== undefined) tally.declared(chunk.usage)
    template.learn(data, chunk)
  }

  /** After the last finish only the usage counts: nothing else can undo an answer that is there. */
  const addLast = (data: string, events: GenerationEvent[]) => {
    const chunk = chunkOrNothing(data, call.shape)
    if (chunk?.ergon !== undefined) addUsed(meter.figures(chunk.ergon), events)
    if (chunk?.usage !== undefined) tally.declared(chunk.usage)
    if (chunk === undefined || chunk.error !== undefined || chunk.choices.some(hasToken))
      ended = 'enough'
    else if (chunk.usage !== undefined) ended = 'done'
  }

  const addItem = (item: StreamItem, events: GenerationEvent[]) => {
    if (item.kind === 'comment') addUsed(commentFigures(item.text, meter), events)
    else if (item.data === '[DONE]') ended = 'done'
    else if (choices.isWhole) addLast(item.data, events)
    else addChunk(item.data, events)
    if (choices.isOverrun) ended = 'enough'
  }

  return {
    stage: () => ended ?? (choices.isWhole ? 'last' : 'more'),
    push(bytes) {
      const events: GenerationEvent[] = []
      for (const item of stream.push(bytes)) {
        if (ended !== undefined) break
        addItem(item, events)
      }
      const used = tally.take()
      return used === undefined ? events : [{ kind: 'used', ...used }, ...events]
    },
    end() {
      if (broken !== undefined) throw broken
      // [DONE] alone proves nothing, and some servers leave it out: the finish reasons count.
      if (!choices.isWhole)
        throw fault('upstream_failed', 'Could not finish the answer: the upstream stopped early')
      const usage = meter.usage()
      if (usage === undefined)
        throw fault('upstream_failed', 'Could not bill the answer: the cell gave no figures')
      return [{ kind: 'end', usage }]
    },
  }
}

/** undefined for an item that is no chunk. */
function chunkOrNothing(data: string, shape: 'chat' | 'text'): Chunk | undefined {
  try {
    return parseChunk(data, shape)
  } catch (error) {
    if (error instanceof ErgonError) return undefined
    throw error
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
function createTally(meter: AnswerMeter) {
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

/** Our cells send their figures as comments during prefill; other servers' comments are chatter. */
function commentFigures(text: string, meter: AnswerMeter): Usage | undefined {
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
