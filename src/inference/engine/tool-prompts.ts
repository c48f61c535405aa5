// Prompts about tools. A model that was trained for tools knows the form; other models learn it from examples in the
// conversation.
import { isFields, type BodyFields } from './fields.ts'
import { toolCallText, withSystemText, type Turn } from './turns.ts'

export type ShownTool = {
  readonly name: string
  readonly description: string
  readonly parameters: BodyFields
}

const AUTO =
  'You may call one or more functions to assist with the user query. For each call return a JSON object with the name and the arguments within <tool_call></tool_call> tags:\n<tool_call>\n{"name": <function-name>, "arguments": <arguments-object>}\n</tool_call>'
const FORCED =
  'Answer with one function call and nothing else: a JSON object {"name": <function-name>, "arguments": <arguments-object>}.'

/** The conversation for a model that may call tools as it was trained to. */
export const withTools = (turns: readonly Turn[], tools: readonly ShownTool[]): Turn[] =>
  withSystemText(turns, described(tools, AUTO))

/** The conversation for a model whose answer will be a call. */
export const withForcedTools = (turns: readonly Turn[], tools: readonly ShownTool[]): Turn[] =>
  withSystemText(turns, described(tools, FORCED))

const described = (tools: readonly ShownTool[], instruction: string): string =>
  [
    '# Tools',
    'These functions are available, each described as JSON:',
    '<tools>',
    ...tools.map((shown) => JSON.stringify({ type: 'function', function: shown })),
    '</tools>',
    instruction,
  ].join('\n')

/**
 * The conversation for a model that was never trained for tools. Where it has a description alone, the default model
 * calls no tool in 12 of 12 requests. After two examples of each kind it calls a fitting tool for requests about the
 * weather and a book, and answers the others in words. A result among the examples would be imitated.
 */
export function withExamples(turns: readonly Turn[], tools: readonly ShownTool[]): Turn[] {
  const lines = tools.map(({ name, description, parameters }) => {
    const { properties } = parameters
    const names = isFields(properties) ? Object.keys(properties) : []
    return `${name}(${names.join(', ')}): ${description}`
  })
  const text = ['Functions:', EXAMPLE_LINE, ...lines, INSTRUCTION].join('\n')
  const [system, ...others] = withSystemText(turns, text)
  return system === undefined ? [] : [system, ...EXAMPLES, ...others]
}

const EXAMPLE_LINE = 'get_time(place): The time in a place'
const INSTRUCTION = 'Call a function when it helps, else answer in words.'
const asked = (text: string): Turn => ({ role: 'user', text })
const said = (text: string): Turn => ({ role: 'assistant', text })
const called = (place: string) => said(toolCallText('get_time', JSON.stringify({ place })))
const EXAMPLES: readonly Turn[] = [
  asked('Who wrote Hamlet?'),
  said('William Shakespeare wrote Hamlet.'),
  asked('What time is it in Rome?'),
  called('Rome'),
  asked('Hi, how are you?'),
  said('I am fine, thank you. How can I help you?'),
  asked('What time is it in Tokyo?'),
  called('Tokyo'),
]
