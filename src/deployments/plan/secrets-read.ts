// The secrets that a description hands to its resources: the author of a function can read the secrets that its code
// gets.
import { stackPartOf } from '#deployments/parts.ts'
import { isPending, type StackParts } from '#resources/stack-part.ts'
import type { StackResource } from '#stack/stack.ts'

/** Secret outputs, such as database.orders.url, of a reading in which no output is known. */
export function secretsRead(parts: StackParts, resources: readonly StackResource[]): string[] {
  const secrets = new Set(
    resources.flatMap(({ address, type }) =>
      stackPartOf(parts, type).secretOutputs.map((output) => `${address}.${output}`),
    ),
  )
  return [...new Set(resources.flatMap(({ spec }) => pendingIn(spec)))].filter((one) =>
    secrets.has(one),
  )
}

function pendingIn(value: unknown): readonly string[] {
  if (isPending(value)) return value.pending
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(pendingIn) : []
}
