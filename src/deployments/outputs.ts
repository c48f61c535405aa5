// Outputs of resources without those that are secrets.
import type { FoundResource } from '#resources/stack-part.ts'

export const publicOutputs = (
  outputs: FoundResource['outputs'],
  { secretOutputs }: { readonly secretOutputs: readonly string[] },
): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(outputs).filter(([name]) => !secretOutputs.includes(name)))
