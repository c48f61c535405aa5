// Apart from the schemas: the endpoint of databases is without zod.

/** Databases that an account may have at once. */
export const DATABASES_MAX = 20

/** Backups by hand that a database may have at once, those that failed included. */
export const MANUAL_BACKUPS_MAX = 100

/** Days that GET /v1/databases/{database}/energy sums at most. */
export const DATABASE_ENERGY_DAYS_MAX = 31
