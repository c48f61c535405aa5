// The body of a chat request.
import { booleanOf, fieldsOf, isFields, memberOf, numberOf, refuse, unsupported } from './fields.ts'
import type { Fields } from './fields.ts'
import { grammarSchema } from './json-schema.ts'
import type { ModelConfig } from './model-config.ts'
import { readGenerating, type Generating } from './read-sampling.ts'
import { readToolUse, type ToolUse } from './read-tools.ts'
import { readTurns, type Turn } from './turns.ts'

const ALTERNATIVES_MAX = 20

export type ChatRequest = Generating & {
  readonly turns: readonly Turn[]
  readonly tools?: ToolUse
  /** What the whole text is held to: a forced call or the response format. */
  readonly schema?: Fields
}

/** Throws `invalid_request` or `unsupported_parameter`, naming the member. */
export function readChat(body: Fields, config: ModelConfig): ChatRequest {
  refuseModalities(body)
  const tools = readToolUse(body, config)
  const schema = tools?.schema ?? readFormat(memberOf(body, 'response_format'))
  return {
    ...readGenerating(body, config, readAlternatives(body)),
    turns: readTurns(memberOf(body, 'messages')),
    ...(tools === undefined ? {} : { tools }),
    ...(schema === undefined ? {} : { schema }),
  }
}

function refuseModalities(body: Fields): void {
  const modalities = memberOf(body, 'modalities')
  const other = Array.isArray(modalities) ? modalities.find((each) => each !== 'text') : undefined
  if (other !== undefined) throw unsupported('modalities', `this model writes text, not ${other}`)
  for (const member of ['audio', 'web_search_options', 'prediction'])
    if (memberOf(body, member) !== undefined)
      throw unsupported(member, 'this model has no such part')
}

function readAlternatives(body: Fields): number | undefined {
  const top = numberOf(body, 'top_logprobs', { least: 0, most: ALTERNATIVES_MAX, integer: true })
  const asked = booleanOf(body, 'logprobs') === true
  if (top !== undefined && !asked) throw refuse('top_logprobs', 'it needs logprobs: true')
  return asked ? (top ?? 0) : undefined
}

/** "text" is no format; the two JSON formats are held to by a grammar. */
function readFormat(value: unknown): Fields | undefined {
  if (value === undefined) return undefined
  const format = fieldsOf(value, 'response_format')
  switch (format['type']) {
    case 'text':
      return undefined
    case 'json_object':
      return { type: 'object', additionalProperties: true }
    case 'json_schema': {
      const named = fieldsOf(format['json_schema'], 'response_format.json_schema')
      const { schema } = named
      if (!isFields(schema)) throw refuse('response_format.json_schema.schema', 'it is missing')
      if (schema['type'] !== 'object' && schema['type'] !== 'array')
        throw refuse('response_format.json_schema.schema', 'its type must be "object"')
      return grammarSchema(schema, 'response_format.json_schema', named['strict'] === true)
    }
    default:
      throw unsupported('response_format.type', 'it must be text, json_object or json_schema')
  }
}
