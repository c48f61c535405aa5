// Schemas of the kinds that users send: by hand, from Zod, from Pydantic, from OpenAPI pages.
// Strings have an end, so that a model of random weights comes to it.

const text = { type: 'string', maxLength: 12 }
const object = (properties: object, more: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
})
const ADDRESS = object({ street: text, zip: { type: 'string', pattern: '^\\d{5}$' } })
/** As Zod writes z.email(). */
const ZOD_EMAIL =
  "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$"

export const ORDINARY_SCHEMAS: Readonly<Record<string, Record<string, unknown>>> = {
  'an object of strings and numbers': object({ name: text, age: { type: 'integer' } }),
  'a least': object({ price: { type: 'integer', minimum: 100 } }),
  'a range': object({ age: { type: 'integer', minimum: 0, maximum: 150 } }),
  'a range below zero': object({ celsius: { type: 'integer', minimum: -40, maximum: -3 } }),
  'open bounds of decimals': object({
    share: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
  }),
  'a confidence': object({ confidence: { type: 'number', minimum: 0, maximum: 1 } }),
  'a step': object({ quantity: { type: 'integer', multipleOf: 5, minimum: 5, maximum: 500 } }),
  'money in cents': object({
    price: { type: 'number', multipleOf: 0.01, minimum: 0, maximum: 99 },
  }),
  'a pattern': object({ plate: { type: 'string', pattern: '^[A-Z]{3}-\\d{4}$' } }),
  'a pattern of a semantic version': object({
    version: {
      type: 'string',
      pattern: '^(0|[1-9]\\d{0,3})\\.(0|[1-9]\\d{0,3})\\.(0|[1-9]\\d{0,3})$',
    },
  }),
  'a pattern with lookaheads': object({
    mail: { type: 'string', format: 'email', pattern: ZOD_EMAIL, maxLength: 30 },
  }),
  'a slug of a length': object({
    slug: { type: 'string', pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$', minLength: 3, maxLength: 16 },
  }),
  'lengths of a string': object({ code: { type: 'string', minLength: 6, maxLength: 6 } }),
  'dates and times': object({
    day: { type: 'string', format: 'date' },
    at: { type: 'string', format: 'date-time' },
    time: { type: 'string', format: 'time' },
  }),
  'a UUID': object({ id: { type: 'string', format: 'uuid' } }),
  'addresses of the Internet': object({
    v4: { type: 'string', format: 'ipv4' },
    v6: { type: 'string', format: 'ipv6' },
  }),
  'an email': object({ mail: { type: 'string', format: 'email', maxLength: 24 } }),
  'a URI': object({ link: { type: 'string', format: 'uri', maxLength: 32 } }),
  'a host name': object({ host: { type: 'string', format: 'hostname', maxLength: 24 } }),
  'a duration': object({ lasts: { type: 'string', format: 'duration' } }),
  'an enum': object({ size: { type: 'string', enum: ['small', 'medium', 'large'] } }),
  'an enum of mixed values': object({ level: { enum: [1, 2.5, 'high', null, true] } }),
  'a constant': object({ kind: { const: 'invoice' }, version: { const: 2 } }),
  'a nullable type': object({ nick: { type: ['string', 'null'], maxLength: 8 } }),
  'an optional of Pydantic': object({
    note: { anyOf: [{ type: 'string', maxLength: 8 }, { type: 'null' }], default: null },
  }),
  'nested arrays': object({
    grid: {
      type: 'array',
      minItems: 1,
      maxItems: 3,
      items: { type: 'array', minItems: 2, maxItems: 2, items: { type: 'integer', maximum: 9 } },
    },
  }),
  'a tuple': object({
    point: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }], items: false },
  }),
  'a union told apart by a constant': {
    type: 'object',
    properties: {
      shape: {
        oneOf: [
          object({ kind: { const: 'circle' }, radius: { type: 'number', minimum: 0 } }),
          object({ kind: { const: 'square' }, side: { type: 'number', minimum: 0 } }),
        ],
      },
    },
    required: ['shape'],
  },
  'allOf with $ref': {
    $defs: {
      named: { type: 'object', properties: { name: text }, required: ['name'] },
      aged: { type: 'object', properties: { age: { type: 'integer', minimum: 18 } } },
    },
    allOf: [
      { $ref: '#/$defs/named' },
      { $ref: '#/$defs/aged' },
      { properties: { age: { maximum: 99 } }, required: ['age'] },
    ],
  },
  'a definition used twice': {
    ...object({ home: { $ref: '#/definitions/address' }, work: { $ref: '#/definitions/address' } }),
    definitions: { address: ADDRESS },
  },
  'a tree': {
    ...object({ name: text, children: { type: 'array', items: { $ref: '#' }, maxItems: 2 } }),
  },
  'a list that ends': {
    type: 'object',
    properties: { value: { type: 'boolean' }, next: { $ref: '#' } },
    required: ['value'],
  },
  'a map': object({
    scores: {
      type: 'object',
      propertyNames: { pattern: '^[a-z]{1,8}$' },
      additionalProperties: { type: 'integer', minimum: 0, maximum: 10 },
      minProperties: 1,
      maxProperties: 3,
    },
  }),
  'members by pattern': object({
    headers: {
      type: 'object',
      patternProperties: { '^x-[a-z]{1,6}$': text },
      additionalProperties: false,
      maxProperties: 2,
    },
  }),
  'a 32-bit integer': object({ id: { type: 'integer', format: 'int32' } }),
}
