// ergon validate: checks a description file and asks no service. Faults go to stderr with their lines; --json prints them,
// and the resources in the order in which they would be made.
import type { CommandCall } from '#cli/call.ts'
import { assertFaultless, descriptionPath, readDescription, tellFaults } from '#cli/description.ts'
import { green, print, printJson } from '#cli/output.ts'
import { diagnosticRecord } from '#hcl/diagnostics.ts'
import type { SourceText } from '#hcl/source-text.ts'
import type { ResourceStack, StackResource } from '#stack/stack.ts'

export async function run(call: CommandCall): Promise<void> {
  const { options } = call
  const file = descriptionPath(call)
  const { source, stack, diagnostics } = readDescription(file, options)
  if (options.json)
    printJson({
      ok: diagnostics.length === 0,
      file,
      diagnostics: diagnostics.map((one) => diagnosticRecord(source, one)),
      resources: stack.resources.map((one) => record(source, one)),
      outputs: stack.outputs,
    })
  else tellFaults(source, diagnostics)
  assertFaultless(source, diagnostics)
  if (!options.json) print(summary(file, stack))
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
  const count = `${resources.length} resource${resources.length === 1 ? '' : 's'}`
  return [`${green('ok')} ${file}: ${count}`, ...lines].join('\n')
}
