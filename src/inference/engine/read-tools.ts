// tools and tool_choice: what the model is told about them, and the grammar that forces a call.
import { fieldsOf, isFields, listOf, memberOf, refuse, textOf, unsupported } from './fields.ts'
import type { Fields } from './fields.ts'
import { grammarSchema } from './json-schema.ts'
import type { ModelConfig } from './model-config.ts'

const TOOLS_MAX = 128
const DESCRIPTION_CHARACTERS_MAX = 16_384
const NAME = /^[A-Za-z0-9_-]{1,64}$/

export type ToolUse = {
  /** What the model is told. */
  readonly systemText: string
  /** Present when a call is forced. */
  readonly schema?: Fields
  /** Whether text may hold several calls. */
  readonly parallel: boolean
}

type Tool = {
  readonly name: string
  readonly strict: boolean
  readonly parameters: unknown
  /** The caller's own description of the function, as it is shown to the model. */
  readonly shown: Fields
}

/** How tools are used in this request; absent when there are none or `tool_choice` is "none". */
export function readToolUse(fields: Fields, config: ModelConfig): ToolUse | undefined {
  for (const old of ['functions', 'function_call'])
    if (memberOf(fields, old) !== undefined)
      throw unsupported(old, 'it was replaced by tools and tool_choice')
  const tools = readTools(memberOf(fields, 'tools'))
  const choice = memberOf(fields, 'tool_choice') ?? (tools.length > 0 ? 'auto' : 'none')
  if (choice === 'none') return undefined
  if (tools.length === 0) throw refuse('tool_choice', 'there are no tools')
  const parallel = memberOf(fields, 'parallel_tool_calls') !== false
  if (choice === 'auto') {
    if (config.tools !== true)
      throw unsupported(
        'tool_choice',
        `"auto" needs a model that was trained for tools; ${config.id} takes "required", "none" or a named function`,
      )
    return { systemText: systemText(tools, AUTO), parallel }
  }
  const named = choice === 'required' ? tools : [namedTool(choice, tools)]
  return { systemText: systemText(named, FORCED), schema: callSchema(named), parallel: false }
}

function readTools(value: unknown): Tool[] {
  if (value === undefined) return []
  return listOf(value, 'tools', TOOLS_MAX).map((tool, index) => {
    const param = `tools[${index}]`
    const entry = fieldsOf(tool, param)
    if (entry['type'] !== 'function') throw unsupported(`${param}.type`, 'it must be "function"')
    const described = fieldsOf(entry['function'], `${param}.function`)
    const name = textOf(described['name'], `${param}.function.name`, 64)
    if (!NAME.test(name)) throw refuse(`${param}.function.name`, `it must match ${NAME.source}`)
    const description = memberOf(described, 'description') ?? ''
    return {
      name,
      strict: described['strict'] === true,
      parameters: memberOf(described, 'parameters') ?? { type: 'object', properties: {} },
      shown: {
        name,
        description: textOf(description, `${param}.description`, DESCRIPTION_CHARACTERS_MAX),
        parameters: memberOf(described, 'parameters') ?? {},
      },
    }
  })
}

function namedTool(choice: unknown, tools: readonly Tool[]): Tool {
  const named = isFields(choice) ? choice['function'] : undefined
  if (!isFields(named) || !isFields(choice) || choice['type'] !== 'function')
    throw unsupported('tool_choice', 'it must be "none", "auto", "required" or a named function')
  const tool = tools.find((each) => each.name === named['name'])
  if (tool === undefined)
    throw refuse('tool_choice', `no tool is called ${JSON.stringify(named['name'])}`)
  return tool
}

/** One object per tool; name before arguments, so that the name can be streamed first. */
function callSchema(tools: readonly Tool[]): Fields {
  const calls = tools.map(({ name, parameters, strict }) => {
    const param = `tools.${name}.parameters`
    const { $defs, ...schema } = grammarSchema(parameters, param, strict)
    return {
      type: 'object',
      properties: { name: { const: name }, arguments: schema },
      ...($defs === undefined ? {} : { $defs }),
    }
  })
  return calls.length === 1 && calls[0] !== undefined ? calls[0] : { oneOf: calls }
}

const AUTO =
  'You may call one or more functions to assist with the user query. For each call return a JSON object with the name and the arguments within <tool_call></tool_call> tags:\n<tool_call>\n{"name": <function-name>, "arguments": <arguments-object>}\n</tool_call>'
const FORCED =
  'Answer with one function call and nothing else: a JSON object {"name": <function-name>, "arguments": <arguments-object>}.'

const systemText = (tools: readonly Tool[], instruction: string): string =>
  [
    '# Tools',
    'These functions are available, each described as JSON:',
    '<tools>',
    ...tools.map((tool) => JSON.stringify({ type: 'function', function: tool.shown })),
    '</tools>',
    instruction,
  ].join('\n')
