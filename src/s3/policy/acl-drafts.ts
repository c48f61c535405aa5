// ACLs as clients write them: a canned name or grants, in headers or in a document. A draft may name accounts by
// e-mail or accounts that do not exist; `resolveAcl` turns a draft into a list.
import type { IncomingHttpHeaders } from 'node:http'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { xmlFields, xmlText, optionalText } from '#s3/xml/fields.ts'
import { parseXml, type XmlElement } from '#s3/xml/read.ts'
import { writeXml, type XmlNode } from '#s3/xml/write.ts'
import {
  cannedAcl,
  ACL_GROUPS,
  PERMISSIONS,
  type Acl,
  type Grantee,
  type Group,
  type Owners,
  type Permission,
} from './acl.ts'

const GRANTS_MAX = 100

type DraftGrantee = Grantee | { readonly email: string }
export type AclDraft =
  | { readonly canned: string }
  | {
      /** The owner in the document, which must be the existing owner. */
      readonly owner?: string
      readonly grants: readonly { grantee: DraftGrantee; permission: Permission }[]
    }

const GRANT_HEADERS: readonly [header: string, permission: Permission][] = [
  ['x-amz-grant-read', 'READ'],
  ['x-amz-grant-write', 'WRITE'],
  ['x-amz-grant-read-acp', 'READ_ACP'],
  ['x-amz-grant-write-acp', 'WRITE_ACP'],
  ['x-amz-grant-full-control', 'FULL_CONTROL'],
]

/** The ACL in the headers; undefined without one. Throws InvalidRequest, InvalidArgument. */
export function parseAclHeaders(headers: IncomingHttpHeaders): AclDraft | undefined {
  const canned = headers['x-amz-acl']
  const grants = GRANT_HEADERS.flatMap(([header, permission]) =>
    parseGrantees(String(headers[header] ?? ''), header).map((grantee) => ({
      grantee,
      permission,
    })),
  )
  if (grants.length > GRANTS_MAX) throw invalid('x-amz-grant', 'More than 100 grants')
  if (typeof canned !== 'string') return grants.length === 0 ? undefined : { grants }
  if (grants.length > 0)
    throw storageFault(
      'InvalidRequest',
      'Specifying both Canned ACLs and Header Grants is not allowed',
    )
  return { canned }
}

function parseGrantees(value: string, header: string): DraftGrantee[] {
  return value
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const found = /^\s*(id|uri|emailAddress)\s*=\s*(?:"([^"]*)"|([^"\s]+))\s*$/i.exec(part)
      const name = found?.[2] ?? found?.[3]
      if (name === undefined) throw invalid(header, value)
      switch (found?.[1]?.toLowerCase()) {
        case 'id':
          return { account: name }
        case 'uri':
          return { group: groupOf(name) }
        default:
          return { email: name }
      }
    })
}

function groupOf(uri: string): Group {
  const found = Object.entries(ACL_GROUPS).find(([, known]) => known === uri)
  if (found === undefined) throw storageFault('InvalidArgument', 'Invalid group uri')
  return found[0] as Group
}

const invalid = (name: string, value: string) =>
  storageFault('InvalidArgument', undefined, { ArgumentName: name, ArgumentValue: value })

/** Reads an `AccessControlPolicy`. Throws MalformedXML, MalformedACLError, InvalidArgument. */
export function parseAcl(body: Buffer): AclDraft {
  const { Owner, AccessControlList } = xmlFields(parseXml(body, 'AccessControlPolicy'), {
    Owner: 'one',
    AccessControlList: 'one',
  })
  const owner = xmlText(xmlFields(Owner, { ID: 'one', DisplayName: 'optional' }).ID)
  const grants = xmlFields(AccessControlList, { Grant: 'many' }).Grant.map((grant) => {
    const { Grantee: grantee, Permission } = xmlFields(grant, { Grantee: 'one', Permission: 'one' })
    const wanted = xmlText(Permission).trim()
    const permission = PERMISSIONS.find((known) => known === wanted)
    if (permission === undefined) throw storageFault('MalformedACLError')
    return { grantee: parseGrantee(grantee), permission }
  })
  if (grants.length > GRANTS_MAX) throw storageFault('MalformedACLError')
  return { owner, grants }
}

function parseGrantee(element: XmlElement): DraftGrantee {
  const { ID, URI, EmailAddress } = xmlFields(element, {
    ID: 'optional',
    DisplayName: 'optional',
    URI: 'optional',
    EmailAddress: 'optional',
  })
  switch (element.attributes['type']) {
    case 'CanonicalUser':
      return { account: named(ID) }
    case 'Group':
      return { group: groupOf(named(URI)) }
    case 'AmazonCustomerByEmail':
      return { email: named(EmailAddress) }
    default:
      throw storageFault('MalformedACLError')
  }
}

function named(element: XmlElement | undefined): string {
  const name = optionalText(element)
  if (name === undefined) throw storageFault('MalformedACLError')
  return name
}

/** Look-ups of accounts. */
export type Directory = {
  readonly exists: (account: string) => Promise<boolean>
  readonly accountOfEmail: (email: string) => Promise<string | undefined>
}

/**
 * The list of a draft. Throws InvalidArgument for an unknown account, UnresolvableGrantByEmailAddress, AccessDenied
 * for a document with another owner.
 */
export async function resolveAcl(
  draft: AclDraft,
  owners: Owners,
  directory: Directory,
): Promise<Acl> {
  if ('canned' in draft) return cannedAcl(draft.canned, owners)
  if (draft.owner !== undefined && draft.owner !== owners.owner) throw storageFault('AccessDenied')
  const grants = await Promise.all(
    draft.grants.map(async ({ grantee, permission }) => ({
      grantee: await resolveGrantee(grantee, owners, directory),
      permission,
    })),
  )
  return { grants }
}

async function resolveGrantee(
  grantee: DraftGrantee,
  { owner, bucketOwner }: Owners,
  directory: Directory,
): Promise<Grantee> {
  if ('group' in grantee) return grantee
  if ('email' in grantee) {
    const account = await directory.accountOfEmail(grantee.email)
    if (account === undefined) throw storageFault('UnresolvableGrantByEmailAddress')
    return { account }
  }
  const { account } = grantee
  const known = account === owner || account === bucketOwner || (await directory.exists(account))
  if (!known)
    throw storageFault('InvalidArgument', 'Invalid id', {
      ArgumentName: 'CanonicalUser/ID',
      ArgumentValue: account,
    })
  return { account }
}

/** Prints a list; `nameOf` gives the display names of its accounts. */
export function printAcl(
  acl: Acl,
  owner: string,
  nameOf: (account: string) => string | undefined,
): string {
  const account = (id: string): XmlNode[] => [
    ['ID', id],
    ['DisplayName', nameOf(id)],
  ]
  // Groups first: Ceph's suite sorts by names, which groups do not have.
  const grants = [...acl.grants].sort((a, b) => rank(a.grantee) - rank(b.grantee))
  return writeXml('AccessControlPolicy', [
    ['Owner', account(owner)],
    [
      'AccessControlList',
      grants.map(({ grantee, permission }): XmlNode => [
        'Grant',
        [
          'account' in grantee
            ? ['Grantee', account(grantee.account), ofType('CanonicalUser')]
            : ['Grantee', [['URI', ACL_GROUPS[grantee.group]]], ofType('Group')],
          ['Permission', permission],
        ],
      ]),
    ],
  ])
}

const rank = (grantee: Grantee) => ('group' in grantee ? 0 : 1)

const ofType = (type: string) =>
  `xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="${type}"`
