// Reads the events of one generation from an upstream's answer in one piece.
import { fault } from '#contract/errors.ts'
import { parseChunk, type ChunkChoice } from './chunk.ts'
import { hasToken } from './followed-choices.ts'
import type { AnswerMeter } from './meter.ts'
import type {
  AnswerReader,
  GenerationCall,
  GenerationEvent,
} from '#inference/providers/provider.ts'
import { streamFault } from './upstream-error.ts'

/** `uncounted` is called when the answer has no usage that can be believed. */
export function createWholeReader(
  call: GenerationCall,
  meter: AnswerMeter,
  uncounted: () => void,
): AnswerReader<GenerationEvent> {
  const pieces: Uint8Array[] = []

  const usedOf = (chunk: ReturnType<typeof parseChunk>) => {
    const declared = chunk.usage && meter.declared(chunk.usage)
    if (declared !== undefined) return declared
    uncounted()
    return meter.weighed(bytesOf(chunk.choices))
  }

  return {
    stage: () => 'more',
    push(bytes) {
      pieces.push(bytes)
      return []
    },
    end() {
      const text = textOf(pieces)
      const chunk = parseChunk(text, call.shape)
      if (chunk.error !== undefined) throw streamFault(text)
      const used = usedOf(chunk)
      const events: GenerationEvent[] = used === undefined ? [] : [{ kind: 'used', ...used }]
      const seen: boolean[] = []
      for (const choice of chunk.choices) addChoice(choice, seen, events)
      // None is missing, and none came twice.
      if (
        seen.length !== call.choices ||
        chunk.choices.length !== call.choices ||
        seen.includes(false)
      )
        throw fault('upstream_failed', `Could not read the upstream: ${seen.length} answers`)
      const usage = meter.usage()
      if (usage === undefined)
        throw fault('upstream_failed', 'Could not bill the answer: the upstream gave no figures')
      events.push({ kind: 'end', usage })
      return events
    },
  }

  function addChoice(
    { index, delta, logprobs, finish }: ChunkChoice,
    seen: boolean[],
    events: GenerationEvent[],
  ): void {
    if (index >= call.choices || finish === undefined)
      throw fault('upstream_failed', `Could not read the upstream: a bad choice ${index}`)
    seen[index] = true
    events.push({ kind: 'delta', index, delta, logprobs })
    events.push({ kind: 'finish', index, reason: finish })
  }
}

/** UTF-8 bytes of the generated text, thinking and calls. */
const bytesOf = (choices: readonly ChunkChoice[]): number =>
  choices
    .filter(hasToken)
    .flatMap(({ delta }) => [
      delta.content,
      delta.text,
      delta.reasoning_content,
      delta.refusal,
      delta.tool_calls && JSON.stringify(delta.tool_calls),
    ])
    .reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0)

function textOf(pieces: readonly Uint8Array[]): string {
  const [first] = pieces
  const bytes = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}
