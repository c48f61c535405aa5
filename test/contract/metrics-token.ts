/** What the product of these tests gives its metrics for. */
export const METRICS_TOKEN = 'metrics-token-of-a-test'
