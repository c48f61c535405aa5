// The parts of all products whose resources description files have: gateways plan with them, the process of tasks applies.
import type { StackParts } from '#resources/stack-part.ts'
import { STACK_PRODUCTS } from './products/stack.ts'

export type StackConfig = {
  /** The secret of the data folder. */
  readonly secret: string
  /** The settings of the gateway halves, by the product's name. */
  readonly settings: Readonly<Record<string, object>>
}

export const openStackParts = ({ secret, settings }: StackConfig): StackParts =>
  Object.assign(
    {},
    ...STACK_PRODUCTS.map(({ name, open }) => open({ secret }, settings[name] as never)),
  ) as StackParts

/** The settings that they need. */
export const stackSettingsOf = (
  settings: Readonly<Record<string, object | undefined>>,
): StackConfig['settings'] =>
  Object.fromEntries(STACK_PRODUCTS.map(({ name }) => [name, settings[name] ?? {}]))
