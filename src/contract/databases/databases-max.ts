// Apart from the schemas: the endpoint of databases is without zod.

/** Databases that an account may have at once. */
export const DATABASES_MAX = 20

/** Days that GET /v1/databases/{database}/energy sums at most. */
export const DATABASE_ENERGY_DAYS_MAX = 31
