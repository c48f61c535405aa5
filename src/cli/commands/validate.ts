// ergon validate: checks a description file and asks no service. Faults go to stderr with their lines; --json prints them,
// and the resources in the order in which they would be made.
import { readFileSync, statSync } from 'node:fs'
import { messageOf } from '#base/errors.ts'
import { listOption, type CommandCall } from '#cli/call.ts'
import { CommandError, EXIT, green, print, printJson, tell } from '#cli/output.ts'
import { diagnosticRecord, renderDiagnostic } from '#hcl/diagnostics.ts'
import { SourceText } from '#hcl/source-text.ts'
import { SOURCE_LENGTH_MAX } from '#hcl/syntax/parse-body.ts'
import { describeStack } from '#stack/describe.ts'
import type { ResourceStack, StackResource } from '#stack/stack.ts'

export async function run({ options, words: [file = 'ergon.hcl'] }: CommandCall): Promise<void> {
  const source = new SourceText(file, readDescription(file))
  const variables = new Map(listOption(options, 'var').map(readAssignment))
  const { stack, diagnostics } = describeStack({ source, variables })
  if (options.json)
    printJson({
      ok: diagnostics.length === 0,
      file,
      diagnostics: diagnostics.map((one) => diagnosticRecord(source, one)),
      resources: stack.resources.map((one) => record(source, one)),
      outputs: stack.outputs,
    })
  else for (const one of diagnostics) tell(renderDiagnostic(source, one))
  if (diagnostics.length > 0) {
    const count = `${diagnostics.length} fault${diagnostics.length === 1 ? '' : 's'}`
    throw new CommandError(`The description has ${count}: ${file}`, EXIT.failed)
  }
  if (!options.json) print(summary(file, stack))
}

/** UTF-8 has at most 4 bytes a character. */
const FILE_BYTES_MAX = SOURCE_LENGTH_MAX * 4

function readDescription(file: string): string {
  try {
    const stat = statSync(file)
    if (stat.isFile() && stat.size > FILE_BYTES_MAX)
      throw new RangeError(`it has more than ${FILE_BYTES_MAX} bytes`)
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file))
  } catch (error) {
    const message = `Could not read the description ${file}: ${messageOf(error)}`
    throw new CommandError(message, EXIT.failed, 'ergon validate path/to/ergon.hcl')
  }
}

function readAssignment(text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  if (at < 1) throw new CommandError(`Not a variable: "${text}"`, EXIT.usage, '--var name=value')
  return [text.slice(0, at), text.slice(at + 1)]
}

/** The values of secrets are not for a screen; integers beyond 2^53 are texts. */
function record(source: SourceText, { range, spec, ...resource }: StackResource): unknown {
  const { line } = source.placeOf(range.start)
  const shown: unknown = JSON.parse(
    JSON.stringify(spec, (key, value: unknown) => {
      if (typeof value === 'bigint') return String(value)
      if (key !== 'secret' || !Array.isArray(value)) return value
      return value.map(({ name }: { name?: string }) => ({ name }))
    }),
  )
  return { ...resource, line, spec: shown }
}

function summary(file: string, { resources }: ResourceStack): string {
  const lines = resources.map(({ address, needs }) =>
    needs.length === 0 ? `  ${address}` : `  ${address}  after ${needs.join(', ')}`,
  )
  return [`${green('ok')} ${file}: ${resources.length} resources`, ...lines].join('\n')
}
