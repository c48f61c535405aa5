// A conversation as the model is to see it: turns of plain text. Tool calls and their results are
// written in the Hermes form, which most open models with tools were trained on.
import { fieldsOf, isFields, listOf, fieldOf, refuse, textOf, unsupported } from './fields.ts'
import type { BodyFields } from './fields.ts'
import { CALL_CLOSE, CALL_OPEN } from './tool-calls.ts'

export type Turn = { readonly role: 'system' | 'user' | 'assistant'; readonly text: string }

const MESSAGES_MAX = 2048
const PARTS_MAX = 1024
const CALLS_MAX = 128
const ROLES = ['developer', 'system', 'user', 'assistant', 'tool'] as const

/** Reads the field `messages` of a chat request. */
export function readTurns(value: unknown): Turn[] {
  const messages = listOf(value, 'messages', MESSAGES_MAX)
  if (messages.length === 0) throw refuse('messages', 'it is empty')
  return messages.map((message, index) =>
    readTurn(fieldsOf(message, `messages[${index}]`), `messages[${index}]`),
  )
}

function readTurn(message: BodyFields, param: string): Turn {
  const role = ROLES.find((known) => known === message['role'])
  if (role === undefined) throw refuse(`${param}.role`, `it must be one of ${ROLES.join(', ')}`)
  const text = readContent(fieldOf(message, 'content'), `${param}.content`)
  switch (role) {
    case 'developer':
    case 'system':
      return { role: 'system', text: text ?? '' }
    case 'user':
      if (text === undefined) throw refuse(`${param}.content`, 'it is missing')
      return { role, text }
    case 'assistant': {
      const calls = readCalls(fieldOf(message, 'tool_calls'), param)
      if (text === undefined && calls === '') throw refuse(`${param}.content`, 'it is missing')
      return { role, text: [text ?? '', calls].filter((part) => part !== '').join('\n') }
    }
    case 'tool':
      return { role: 'user', text: `<tool_response>\n${text ?? ''}\n</tool_response>` }
  }
}

/** A string, or an array of text parts, which are joined. */
function readContent(value: unknown, param: string): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string') return textOf(value, param)
  return listOf(value, param, PARTS_MAX)
    .map((part, index) => {
      const fields = fieldsOf(part, `${param}[${index}]`)
      if (fields['type'] === 'text') return textOf(fields['text'], `${param}[${index}].text`)
      if (fields['type'] === 'refusal')
        return textOf(fields['refusal'], `${param}[${index}].refusal`)
      throw unsupported(`${param}[${index}].type`, 'this model reads text only')
    })
    .join('')
}

function readCalls(value: unknown, param: string): string {
  if (value === undefined) return ''
  return listOf(value, `${param}.tool_calls`, CALLS_MAX)
    .map((call) => {
      const called = isFields(call) ? call['function'] : undefined
      if (!isFields(called)) throw refuse(`${param}.tool_calls`, 'a call without a function')
      const name = textOf(called['name'], `${param}.tool_calls.function.name`)
      const text = textOf(called['arguments'], `${param}.tool_calls.function.arguments`)
      return toolCallText(name, text)
    })
    .join('\n')
}

/** A call as the model would have written it. Arguments that are no JSON are kept as a JSON string. */
export const toolCallText = (name: string, argumentsText: string): string =>
  `${CALL_OPEN}\n{"name": ${JSON.stringify(name)}, "arguments": ${jsonOr(argumentsText)}}\n${CALL_CLOSE}`

function jsonOr(text: string): string {
  try {
    JSON.parse(text)
    return text
  } catch {
    return JSON.stringify(text)
  }
}

/** The turns with a text put in front, in the first system turn if there is one. */
export function withSystemText(turns: readonly Turn[], text: string): Turn[] {
  const [first, ...rest] = turns
  if (first?.role === 'system')
    return [{ role: 'system', text: `${first.text}\n\n${text}` }, ...rest]
  return [{ role: 'system', text }, ...turns]
}
