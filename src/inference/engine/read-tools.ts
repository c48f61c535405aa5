// tools and tool_choice: their prompt for the model, and the grammar of its answer.
import {
  booleanOf,
  fieldsOf,
  isFields,
  listOf,
  fieldOf,
  refuse,
  textOf,
  unsupported,
} from './fields.ts'
import type { BodyFields } from './fields.ts'
import type { Grammar } from './grammar/grammar.ts'
import {
  forcedCallGrammar,
  textAndCallsGrammar,
  textOrCallsGrammar,
  type CallableTool,
} from './grammar/request-grammar.ts'
import type { ModelConfig } from './model-config.ts'
import { withExamples, withForcedTools, withTools, type ShownTool } from './tool-prompts.ts'
import type { Turn } from './turns.ts'

const TOOLS_MAX = 128
const DESCRIPTION_CHARACTERS_MAX = 16_384
const NAME = /^[A-Za-z0-9_-]{1,64}$/

export type ToolUse = {
  /** The conversation as the model is to see it. */
  readonly place: (turns: readonly Turn[]) => Turn[]
  readonly grammar: Grammar
  /** The answer is one call and nothing else. */
  readonly isForced: boolean
  /** True when text may hold several calls. */
  readonly parallel: boolean
}

type Tool = CallableTool & {
  /** The function as the caller described it. */
  readonly shown: ShownTool
}

/** The use of tools in this request; absent when none can be called. */
export function readToolUse(fields: BodyFields, config: ModelConfig): ToolUse | undefined {
  for (const old of ['functions', 'function_call'])
    if (fieldOf(fields, old) !== undefined)
      throw unsupported(old, 'it was replaced by tools and tool_choice')
  const tools = readTools(fieldOf(fields, 'tools'))
  const choice = fieldOf(fields, 'tool_choice') ?? (tools.length > 0 ? 'auto' : 'none')
  if (choice === 'none') return undefined
  if (tools.length === 0) throw refuse('tool_choice', 'there are no tools')
  const parallel = booleanOf(fields, 'parallel_tool_calls')
  if (choice !== 'auto') return forced(choice === 'required' ? tools : [namedTool(choice, tools)])
  if (config.tools === true) return trained(tools, parallel)
  return endsWithResult(fields) ? undefined : weak(tools, parallel)
}

const shownOf = (tools: readonly Tool[]) => tools.map(({ shown }) => shown)

const forced = (tools: readonly Tool[]): ToolUse => ({
  place: (turns) => withForcedTools(turns, shownOf(tools)),
  grammar: forcedCallGrammar(tools),
  isForced: true,
  parallel: false,
})

const trained = (tools: readonly Tool[], parallel = true): ToolUse => ({
  place: (turns) => withTools(turns, shownOf(tools)),
  grammar: textAndCallsGrammar(tools),
  isForced: false,
  parallel,
})

/** A model that was not trained for tools makes one call at a time, unless more are asked for. */
const weak = (tools: readonly Tool[], parallel = false): ToolUse => ({
  place: (turns) => withExamples(turns, shownOf(tools)),
  grammar: textOrCallsGrammar(tools, parallel ? WEAK_CALLS_MAX : 1),
  isForced: false,
  parallel,
})

const WEAK_CALLS_MAX = 8

/**
 * Given the result of a call, such a model would call again without end: it answers in words, which it
 * does best without any word of tools before it.
 */
function endsWithResult(fields: BodyFields): boolean {
  const messages = fieldOf(fields, 'messages')
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined
  return isFields(last) && last['role'] === 'tool'
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
    const description = fieldOf(described, 'description') ?? ''
    const parameters = fieldOf(described, 'parameters')
    return {
      name,
      strict: described['strict'] === true,
      parameters: fieldsOf(parameters ?? NO_PARAMETERS, `${param}.function.parameters`),
      shown: {
        name,
        description: textOf(description, `${param}.description`, DESCRIPTION_CHARACTERS_MAX),
        parameters: isFields(parameters) ? parameters : {},
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

const NO_PARAMETERS: BodyFields = { type: 'object', properties: {}, additionalProperties: false }
