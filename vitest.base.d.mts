import type { ViteUserConfig } from 'vitest/config'

/**
 * The configuration that the tests of all projects share, with `own` over it. Packages are taken from their sources, or with
 * `isBuilt` as they are built.
 */
export function testsOf(
  own?: ViteUserConfig,
  options?: { readonly isBuilt?: boolean },
): ViteUserConfig

declare const shared: ViteUserConfig
export default shared
