// The syntax tree. Every node has its range. Chains of operators and of accesses are flat, so that no long line makes a
// deep tree: depth comes from nesting alone, which the parser limits.
import type { TextRange } from '#hcl/source-text.ts'
import type { Numeric } from '#hcl/values/numeric.ts'

export type Ranged = { readonly range: TextRange }
export type NameNode = Ranged & { readonly text: string }

export type BodyNode = Ranged & {
  readonly attributes: readonly AttributeNode[]
  readonly blocks: readonly BlockNode[]
}
export type AttributeNode = Ranged & { readonly name: NameNode; readonly value: Expression }
export type BlockNode = Ranged & {
  readonly type: NameNode
  readonly labels: readonly NameNode[]
  readonly body: BodyNode
}

export type LiteralNode = Ranged & {
  readonly kind: 'literal'
  readonly value: null | boolean | Numeric
}
export type TemplateNode = Ranged & {
  readonly kind: 'template'
  readonly parts: readonly TemplatePart[]
}
export type ListNode = Ranged & { readonly kind: 'list'; readonly items: readonly Expression[] }
export type ObjectNode = Ranged & {
  readonly kind: 'object'
  readonly entries: readonly ObjectEntryNode[]
}
/** A name without quotes is a template of its text. */
export type ObjectEntryNode = { readonly key: Expression; readonly value: Expression }
export type ReferenceNode = Ranged & { readonly kind: 'reference'; readonly name: string }
export type AccessNode = Ranged & {
  readonly kind: 'access'
  readonly of: Expression
  readonly steps: readonly AccessStep[]
}
export type AccessStep =
  | (Ranged & { readonly kind: 'attribute'; readonly name: string })
  | (Ranged & { readonly kind: 'index'; readonly key: Expression })
  /** `.*` takes the attributes that follow, `[*]` all steps that follow. */
  | (Ranged & { readonly kind: 'splat'; readonly full: boolean })
export type CallNode = Ranged & {
  readonly kind: 'call'
  readonly name: NameNode
  readonly args: readonly Expression[]
  /** The last argument is a list of arguments: `max(local.sizes...)`. */
  readonly expands: boolean
}
export type UnaryNode = Ranged & {
  readonly kind: 'unary'
  readonly operator: '-' | '!'
  readonly operand: Expression
}
/** Operators of one precedence, from left to right. */
export type ChainNode = Ranged & {
  readonly kind: 'chain'
  readonly first: Expression
  readonly rest: readonly { readonly operator: BinaryOperator; readonly operand: Expression }[]
}
export type BinaryOperator =
  | '||'
  | '&&'
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
export type ConditionalNode = Ranged & {
  readonly kind: 'conditional'
  readonly condition: Expression
  readonly then: Expression
  readonly otherwise: Expression
}
export type ForNode = Ranged & {
  readonly kind: 'for'
  readonly keyName: NameNode | undefined
  readonly valueName: NameNode
  readonly collection: Expression
  /** Undefined for a list. */
  readonly key: Expression | undefined
  readonly value: Expression
  readonly condition: Expression | undefined
  /** `...`: the values of equal keys become a list. */
  readonly grouped: boolean
}
export type ParenthesesNode = Ranged & { readonly kind: 'parentheses'; readonly inner: Expression }

export type Expression =
  | LiteralNode
  | TemplateNode
  | ListNode
  | ObjectNode
  | ReferenceNode
  | AccessNode
  | CallNode
  | UnaryNode
  | ChainNode
  | ConditionalNode
  | ForNode
  | ParenthesesNode

export type TemplatePart =
  | (Ranged & { readonly kind: 'text'; readonly text: string })
  | (Ranged & { readonly kind: 'interpolation'; readonly value: Expression })
  | (Ranged & {
      readonly kind: 'if'
      readonly condition: Expression
      readonly then: readonly TemplatePart[]
      readonly otherwise: readonly TemplatePart[] | undefined
    })
  | (Ranged & {
      readonly kind: 'each'
      readonly keyName: NameNode | undefined
      readonly valueName: NameNode
      readonly collection: Expression
      readonly parts: readonly TemplatePart[]
    })
