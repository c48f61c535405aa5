// Requests and replies of passwords of registries, which an account keeps for the pulls of its images.
import { z } from 'zod'
import { ownObject } from '#contract/values/own-object.ts'
import { parseWith } from '#contract/values/parse.ts'
import * as limits from './registry-limits.ts'

const isText = (value: string) => value.isWellFormed() && !value.includes('\0')

export const registryLogin = ownObject({
  username: z
    .string()
    .min(1)
    .max(limits.REGISTRY_USER_MAX)
    // It ends at the first colon of user:password. Source: RFC 7617, section 2.
    .refine(
      (value) => isText(value) && !/[:\p{Cc}]/u.test(value),
      'must be text without a colon and control characters',
    ),
  /** A password, a token or a key in lines that may pull. It is encrypted, and never shown again. */
  password: z.string().min(1).max(limits.REGISTRY_PASSWORD_MAX).refine(isText, 'must be text'),
})
export type RegistryLogin = z.infer<typeof registryLogin>

/** Throws invalid_request. */
export const parseRegistryLogin = (json: unknown): RegistryLogin => parseWith(registryLogin, json)

export const registryReply = z.object({
  object: z.literal('registry'),
  /** Its host, and port where it has one. */
  registry: z.string(),
  username: z.string(),
  created_at: z.iso.datetime(),
  /** When its password was set. */
  updated_at: z.iso.datetime(),
})
export type RegistryReply = z.infer<typeof registryReply>

/** All of them: an account has few. */
export const registryList = z.object({
  object: z.literal('list'),
  data: z.array(registryReply),
  has_more: z.literal(false),
  next_cursor: z.null(),
})

export const registryDeleted = z.object({
  object: z.literal('registry'),
  registry: z.string(),
  deleted: z.literal(true),
})
