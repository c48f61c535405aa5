// The body of a chat request.
import { booleanOf, fieldsOf, isFields, fieldOf, numberOf, refuse, unsupported } from './fields.ts'
import type { BodyFields } from './fields.ts'
import type { Grammar } from './grammar/grammar.ts'
import { formatGrammar } from './grammar/request-grammar.ts'
import type { ModelConfig } from './model-config.ts'
import { readGenerating, type Generating } from './read-sampling.ts'
import { readToolUse, type ToolUse } from './read-tools.ts'
import { readTurns, type Turn } from './turns.ts'

const ALTERNATIVES_MAX = 20

export type CellChatRequest = Generating & {
  /** With what is said of tools among them. */
  readonly turns: readonly Turn[]
  readonly tools?: ToolUse
  /** The grammar of the whole text. */
  readonly grammar?: Grammar
  /** The whole text is one JSON value, and ends with it. */
  readonly isJson: boolean
}

/** Throws `invalid_request` or `unsupported_parameter`, naming the field. */
export function readChat(body: BodyFields, config: ModelConfig): CellChatRequest {
  refuseModalities(body)
  const tools = readToolUse(body, config)
  // Tools that the model may call or not call leave no room for a format of the whole text.
  const grammar = tools?.grammar ?? readFormat(fieldOf(body, 'response_format'))
  const turns = readTurns(fieldOf(body, 'messages'))
  return {
    ...readGenerating(body, config, readAlternatives(body)),
    turns: tools === undefined ? turns : tools.place(turns),
    ...(tools === undefined ? {} : { tools }),
    ...(grammar === undefined ? {} : { grammar }),
    isJson: tools === undefined ? grammar !== undefined : tools.isForced,
  }
}

function refuseModalities(body: BodyFields): void {
  const modalities = fieldOf(body, 'modalities')
  const other = Array.isArray(modalities) ? modalities.find((each) => each !== 'text') : undefined
  if (other !== undefined) throw unsupported('modalities', `this model writes text, not ${other}`)
  for (const field of ['audio', 'web_search_options', 'prediction'])
    if (fieldOf(body, field) !== undefined) throw unsupported(field, 'this model has no such part')
}

function readAlternatives(body: BodyFields): number | undefined {
  const top = numberOf(body, 'top_logprobs', { least: 0, most: ALTERNATIVES_MAX, integer: true })
  const asked = booleanOf(body, 'logprobs') === true
  if (top !== undefined && !asked) throw refuse('top_logprobs', 'it needs logprobs: true')
  return asked ? (top ?? 0) : undefined
}

/** "text" is no format; the two JSON formats are held to by a grammar. */
function readFormat(value: unknown): Grammar | undefined {
  if (value === undefined) return undefined
  const format = fieldsOf(value, 'response_format')
  switch (format['type']) {
    case 'text':
      return undefined
    case 'json_object':
      return formatGrammar({ type: 'object' }, 'response_format', false)
    case 'json_schema': {
      const named = fieldsOf(format['json_schema'], 'response_format.json_schema')
      const { schema } = named
      if (!isFields(schema)) throw refuse('response_format.json_schema.schema', 'it is missing')
      return formatGrammar(schema, 'response_format.json_schema', named['strict'] === true)
    }
    default:
      throw unsupported('response_format.type', 'it must be text, json_object or json_schema')
  }
}
