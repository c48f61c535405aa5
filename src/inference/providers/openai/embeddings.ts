// Answers to an embedding request, checked: a vector for each input, of the length that the catalogue
// promises, all finite. A wrong vector would be stored by the caller and never noticed.
import { fault } from '#contract/errors.ts'
import { isCount, parseObject, usageOf } from './chunk.ts'
import type { AnswerMeter } from './meter.ts'
import { createLineReader } from './lines.ts'
import { streamFault } from './upstream-error.ts'
import type {
  AnswerReader,
  EmbeddingCall,
  EmbeddingEvent,
  Usage,
} from '#inference/providers/provider.ts'

const LINE_BYTES_MAX = 1024 * 1024

/**
 * Our cells answer NDJSON: a line per vector, so that each is claimed as it comes, and a last one with
 * the usage. Others answer OpenAI's whole list in one JSON text.
 */
export function createEmbeddingReader(
  call: EmbeddingCall,
  meter: AnswerMeter,
  isLines: boolean,
): AnswerReader<EmbeddingEvent> {
  const lines = createLineReader({ lineBytesMax: LINE_BYTES_MAX })
  const whole: Uint8Array[] = []
  const seen = new Set<number>()
  let broken: unknown

  const vectorEvent = (item: Record<string, unknown>, position: number): EmbeddingEvent => {
    const index = item['index'] ?? position
    if (!isCount(index) || index >= call.input.length || seen.has(index)) throw bad('index')
    seen.add(index)
    return { kind: 'vector', index, vector: vectorOf(item['embedding'], call) }
  }

  const read = (text: string): EmbeddingEvent[] => {
    const object = parseObject(text)
    // The use until here is in the same line, and is claimed before the end.
    if ((object['error'] ?? undefined) !== undefined) broken = streamFault(text)
    const data = object['data'] ?? (object['embedding'] === undefined ? [] : [object])
    if (!Array.isArray(data)) throw bad('data')
    const vectors = data.map((item: unknown, position) => vectorEvent(recordOf(item), position))
    return [...usedEvents(figuresOf(object, meter)), ...vectors]
  }

  /** The events of whole lines. An unreadable line ends the answer; the lines before it count. */
  const readLines = (bytes: Uint8Array): EmbeddingEvent[] => {
    const events: EmbeddingEvent[] = []
    try {
      for (const line of lines.push(bytes))
        if (line !== '' && broken === undefined) events.push(...read(line))
    } catch (error) {
      broken = error
    }
    return events
  }

  return {
    stage: () => (broken === undefined ? 'more' : 'done'),
    push(bytes) {
      if (isLines) return readLines(bytes)
      whole.push(bytes)
      return []
    },
    end() {
      const events = isLines ? [] : read(Buffer.concat(whole).toString('utf8'))
      if (broken !== undefined) throw broken
      if (seen.size !== call.input.length) throw bad(`number of vectors, ${seen.size}`)
      if (meter.usage() === undefined) throw bad('figures')
      return events
    },
  }
}

/** base64 (float32, little-endian) is a fifth of the bytes of decimal numbers. */
export const embeddingBody = ({ offer, input }: EmbeddingCall, sendsDimensions: boolean): string =>
  JSON.stringify({
    model: offer.upstreamId,
    input,
    encoding_format: 'base64',
    // One cell serves a padded length too. Other servers refuse the field for most models.
    ...(sendsDimensions && { dimensions: offer.embeddingDimensions }),
  })

function figuresOf(object: Record<string, unknown>, meter: AnswerMeter): Usage | undefined {
  if (object['ergon'] !== undefined) return meter.figures(object['ergon'])
  const usage = object['usage']
  return usage === undefined
    ? undefined
    : meter.declared({ ...usageOf(usage), completionTokens: 0 })
}

const usedEvents = (usage: Usage | undefined): EmbeddingEvent[] =>
  usage === undefined ? [] : [{ kind: 'used', ...usage }]

function vectorOf(value: unknown, call: EmbeddingCall): Float32Array {
  const vector = typeof value === 'string' ? fromBase64(value) : fromNumbers(value)
  const length = call.offer.embeddingDimensions
  if (length !== undefined && vector.length !== length) throw bad(`vector of ${vector.length}`)
  if (vector.length === 0 || !vector.every(Number.isFinite)) throw bad('vector')
  return vector
}

function fromBase64(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length % 4 !== 0) throw bad('base64')
  // Copied: a Buffer of the pool need not start at a multiple of four.
  return new Float32Array(Uint8Array.from(bytes).buffer)
}

function fromNumbers(value: unknown): Float32Array {
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'number')) throw bad('vector')
  return Float32Array.from(value)
}

function recordOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bad('answer')
  return value as Record<string, unknown>
}

const bad = (what: string) => fault('upstream_failed', `Could not read the upstream: bad ${what}`)
