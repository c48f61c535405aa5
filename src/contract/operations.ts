// Every operation of the products, by name. A route or another protocol binds each of them; the scope matrix, the
// operation-matrix test and the OpenAPI page are made from this table.
import { WEBHOOKS } from './webhooks/operations.ts'
import { DATABASES } from './databases/operations.ts'
import { DEPLOYMENTS } from './deployments/operations.ts'
import { COMPLIANCE } from './compliance/operations.ts'
import type { Operation } from './operation.ts'
import { ACCOUNTS } from './accounts/operations.ts'
import { FUNCTIONS } from './functions/operations.ts'
import { WORKLOADS } from './workloads/operations.ts'
import { INFERENCE } from './inference/operations.ts'
import { LIVE } from './live/operations.ts'
import { OPERATOR } from './operator/operations.ts'
import { PAYMENTS } from './payments/operations.ts'
import { PORTAL } from './portal/operations.ts'
import { STATUS } from './status/operations.ts'
import { STORAGE } from './storage/operations.ts'

/** One line a product. */
export const PRODUCTS = [
  INFERENCE,
  STORAGE,
  ACCOUNTS,
  STATUS,
  DATABASES,
  FUNCTIONS,
  DEPLOYMENTS,
  WORKLOADS,
  PAYMENTS,
  WEBHOOKS,
  COMPLIANCE,
  LIVE,
  PORTAL,
  OPERATOR,
] as const

type Product = (typeof PRODUCTS)[number]
type NamesOf<P> = P extends { readonly operations: infer Operations } ? keyof Operations : never
export type OperationName = NamesOf<Product> & string
/** The operations that the JSON API serves. */
export type RoutedName = Product['routes'][number]['operation']

export const OPERATIONS = Object.assign(
  {},
  ...PRODUCTS.map(({ operations }) => operations),
) as Readonly<Record<OperationName, Operation>>

/** The service of an operation's charges; 'other' for one that is served no more. */
export const serviceOf = (operation: string): string =>
  (OPERATIONS as Readonly<Record<string, Operation | undefined>>)[operation]?.service ?? 'other'

/** False for work by the minute or by stored bytes. An operation that is served no more counts as requests. */
export const isRequest = (operation: string): boolean =>
  (OPERATIONS as Readonly<Record<string, Operation | undefined>>)[operation]?.withoutRequest !==
  true

export const operationOf = (name: OperationName): Operation => OPERATIONS[name]
