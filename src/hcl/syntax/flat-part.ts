// Parts of a template in a row, as they are read.
import type { Expression, NameNode, Ranged } from './nodes.ts'

/** A part before directives have found their ends. */
export type FlatPart =
  | (Ranged & { readonly kind: 'text'; readonly text: string })
  | (Ranged & { readonly kind: 'interpolation'; readonly value: Expression })
  | (Ranged & { readonly kind: 'open if'; readonly condition: Expression })
  | (Ranged & {
      readonly kind: 'open for'
      readonly keyName: NameNode | undefined
      readonly valueName: NameNode
      readonly collection: Expression
    })
  | (Ranged & { readonly kind: 'else' | 'endif' | 'endfor' })
