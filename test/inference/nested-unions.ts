// The schema that wedged a model: unions of arrays of unions of arrays. Each bracket may be that of any of the
// alternatives, so a grammar's readings multiply with each.
export function nestedUnions(levels: number, alternatives: number): object {
  const $defs: Record<string, object> = { l0: { type: 'integer' } }
  for (let level = 1; level <= levels; level++)
    $defs[`l${level}`] = {
      anyOf: Array.from({ length: alternatives }, (_, index) => ({
        type: 'array',
        items: { $ref: `#/$defs/l${level - 1}` },
        minItems: index + 1,
        maxItems: index + 1,
      })),
    }
  return { type: 'object', properties: { a: { $ref: `#/$defs/l${levels}` } }, $defs }
}
