// The description of a deployment, read again whenever attributes of resources have become known. Two readings: with
// sensitive values, for the comparison, and without them, for everything that anybody sees.
import { fault } from '#contract/errors.ts'
import { diagnosticLine, withoutValues, type HclDiagnostic } from '#hcl/diagnostics.ts'
import { parseFile } from '#hcl/syntax/parse-body.ts'
import { SourceText } from '#hcl/source-text.ts'
import { describeStack } from '#stack/describe.ts'
import type { ResourceStack } from '#stack/stack.ts'

export type DeploymentInput = {
  readonly description: string
  /** The name of the file, for messages. */
  readonly file: string
  readonly variables: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, { readonly file: string; readonly source: string }>>
}

/** Values of outputs by address and name. */
export type KnownOutputs = ReadonlyMap<string, ReadonlyMap<string, string>>

export type Described = {
  readonly source: SourceText
  readonly revealed: ResourceStack
  /** Sensitive values, and all that is made of them, are pending. */
  readonly shown: ResourceStack
}

const FAULTS_SHOWN = 10

/** `known` has secret outputs too, `shown` does not. Throws description_invalid. */
export function readStack(
  { description, file, variables: given }: DeploymentInput,
  known: { readonly revealed: KnownOutputs; readonly shown: KnownOutputs },
): Described {
  const source = new SourceText(file, description)
  const parsed = parseFile(source)
  const variables = new Map(Object.entries(given))
  const read = (isRevealed: boolean, outputs: KnownOutputs) => {
    const { stack, diagnostics } = describeStack({
      source,
      parsed,
      variables,
      isRevealed,
      known: outputs,
    })
    const shown = isRevealed ? diagnostics.map(withoutValues) : diagnostics
    if (shown.length > 0) throw invalid(source, shown)
    return stack
  }
  // First without sensitive values, so that a fault of the second reading is of these alone, and quotes nothing.
  const shown = read(false, known.shown)
  return { source, shown, revealed: read(true, known.revealed) }
}

export const NOTHING_KNOWN = { revealed: new Map(), shown: new Map() } as const

function invalid(source: SourceText, diagnostics: readonly HclDiagnostic[]) {
  const [first] = diagnostics
  const lines = diagnostics.slice(0, FAULTS_SHOWN).map((one) => diagnosticLine(source, one))
  const { line, column } = source.placeOf(first?.range.start ?? 0)
  return fault('description_invalid', `The description has faults: ${lines.join('\n')}`, {
    details: { line, column, faults: diagnostics.length },
  })
}

/** The fault of a resource, with the place of its block. */
export function faultAt(
  source: SourceText,
  start: number,
  { code, message }: { readonly code: string; readonly message: string },
) {
  const { line, column } = source.placeOf(start)
  return fault('description_invalid', `${source.name}:${line}:${column}: ${message}`, {
    details: { line, column, cause: code },
  })
}
