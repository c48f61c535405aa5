// The description file that a command names, with the values of its variables.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { messageOf } from '#base/errors.ts'
import { evaluate } from '#hcl/evaluate/evaluate.ts'
import { EvaluationBudget } from '#hcl/evaluate/evaluation-budget.ts'
import { HCL_FUNCTIONS } from '#hcl/functions/functions.ts'
import { HclFault, renderDiagnostic, type HclDiagnostic } from '#hcl/diagnostics.ts'
import { SourceText } from '#hcl/source-text.ts'
import { parseFile, SOURCE_LENGTH_MAX, type ParsedFile } from '#hcl/syntax/parse-body.ts'
import { describeStack } from '#stack/describe.ts'
import type { DescribedStack, ResourceStack } from '#stack/stack.ts'
import { fileHint } from './bundle.ts'
import { listOption, textOption, type CommandCall } from './call.ts'
import { CommandError, EXIT, tell } from './output.ts'

export const DESCRIPTION_FILE = 'ergon.hcl'

export type DescriptionFile = DescribedStack & {
  readonly source: SourceText
  readonly variables: ReadonlyMap<string, string>
}

/** Its faults are diagnostics. Throws a CommandError where a file cannot be read or an option is wrong. */
export function readDescription(file: string, options: CommandCall['options']): DescriptionFile {
  const source = new SourceText(file, readText(file))
  const variables = new Map([
    ...listOption(options, 'varFile').flatMap(readVariables),
    ...listOption(options, 'var').map(readAssignment),
  ])
  const parsed = parseFile(source)
  const { stack, diagnostics } = describeStack({ source, parsed, variables })
  const missing = missingFiles(parsed, stack, dirname(file))
  return { source, variables, stack, diagnostics: [...diagnostics, ...missing] }
}

/** The path that a command names as its word or by --file. */
export function descriptionPath({
  options,
  words: [word],
}: Pick<CommandCall, 'options' | 'words'>): string {
  const named = textOption(options, 'file')
  if (word !== undefined && named !== undefined && word !== named)
    throw new CommandError(`There are two description files: ${word} and ${named}`, EXIT.usage)
  return word ?? named ?? DESCRIPTION_FILE
}

/** The code of a function is on this machine. */
function missingFiles(
  { body }: ParsedFile,
  { resources }: ResourceStack,
  folder: string,
): HclDiagnostic[] {
  return resources.flatMap(({ type, name, range, spec }) => {
    if (type !== 'function' || typeof spec.file !== 'string') return []
    const path = join(folder, spec.file)
    if (existsSync(path)) return []
    const block = body.blocks.find((one) => one.type.text === type && one.labels[0]?.text === name)
    const attribute = block?.body.attributes.find((one) => one.name.text === 'file')
    const message = `There is no file ${spec.file} of function ${name}`
    return [{ range: attribute?.value.range ?? range, message, hint: fileHint(path) }]
  })
}

/** Throws a CommandError where there are faults. */
export function assertFaultless(source: SourceText, diagnostics: readonly HclDiagnostic[]): void {
  if (diagnostics.length === 0) return
  const count = `${diagnostics.length} fault${diagnostics.length === 1 ? '' : 's'}`
  throw new CommandError(`The description has ${count}: ${source.name}`, EXIT.failed)
}

export function tellFaults(source: SourceText, diagnostics: readonly HclDiagnostic[]): void {
  for (const one of diagnostics) tell(renderDiagnostic(source, one))
}

/** UTF-8 has at most 4 bytes a character. */
const FILE_BYTES_MAX = SOURCE_LENGTH_MAX * 4

function readText(file: string): string {
  try {
    const stat = statSync(file)
    if (stat.isFile() && stat.size > FILE_BYTES_MAX)
      throw new RangeError(`it has more than ${FILE_BYTES_MAX} bytes`)
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file))
  } catch (error) {
    const isMissing = (error as { code?: string }).code === 'ENOENT'
    throw new CommandError(
      `Could not read the description ${file}: ${isMissing ? 'there is no such file' : messageOf(error)}`,
      EXIT.failed,
      'go to the folder of ergon.hcl, or name the file: ergon deploy path/to/ergon.hcl',
    )
  }
}

function readAssignment(text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  if (at < 1) throw new CommandError(`Not a variable: "${text}"`, EXIT.usage, '--var name=value')
  return [text.slice(0, at), text.slice(at + 1)]
}

/** Lines `name = value` as in a description; a list or a map is taken as it is written. */
function readVariables(file: string): [name: string, value: string][] {
  const source = new SourceText(file, readText(file))
  const { body, diagnostics } = parseFile(source)
  const [block] = body.blocks
  const faults = block === undefined ? diagnostics : [...diagnostics, noBlock(block.type.range)]
  tellFaults(source, faults)
  if (faults.length > 0) throw new CommandError(`Not a file of variables: ${file}`, EXIT.failed)
  const budget = new EvaluationBudget()
  return body.attributes.map(({ name, value }) => {
    try {
      const read = evaluate(value, { names: new Map(), functions: HCL_FUNCTIONS, budget })
      const written = source.text.slice(value.range.start, value.range.end)
      return [name.text, typeof read === 'string' ? read : written]
    } catch (error) {
      if (!(error instanceof HclFault)) throw error
      tellFaults(source, [error.diagnostic])
      throw new CommandError(`Not a file of variables: ${file}`, EXIT.failed)
    }
  })
}

const noBlock = (range: HclDiagnostic['range']): HclDiagnostic => ({
  range,
  message: 'Expected lines such as tag = "1.4.2", found a block',
  hint: undefined,
})
