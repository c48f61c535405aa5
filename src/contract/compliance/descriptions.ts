// Requests and replies of the routed operations of evidence packs.
import * as compliance from './compliance.ts'
import { json, ok, type Descriptions } from '#contract/description.ts'
import type { COMPLIANCE } from './operations.ts'

const zip = { 'application/zip': null }

export const COMPLIANCE_DESCRIPTIONS: Descriptions<typeof COMPLIANCE> = {
  'pack.create': {
    summary: 'Make an evidence pack of a time: ledger, receipts, factors and totals, signed',
    request: compliance.packRequest,
    replies: { 202: { help: 'It is being made', media: json(compliance.packReply) } },
    refusals: ['too_many_packs'],
  },
  'pack.list': {
    summary: 'The evidence packs of the account, the newest first',
    query: compliance.packListQuery,
    replies: ok('The packs', json(compliance.packList)),
  },
  'pack.get': {
    summary: 'An evidence pack and its progress',
    replies: ok('The pack', json(compliance.packReply)),
    refusals: ['pack_not_found'],
  },
  'pack.content': {
    summary: 'Download an evidence pack; with Range a part of it',
    replies: {
      200: { help: 'The pack', media: zip },
      206: { help: 'The bytes of the range', media: zip },
    },
    refusals: ['pack_not_found', 'pack_not_ready', 'pack_range_invalid'],
  },
  'pack.delete': {
    summary: 'Delete an evidence pack; one that is being made is cancelled',
    replies: ok('It is deleted', json(compliance.packDeleted)),
    refusals: ['pack_not_found'],
  },
}
