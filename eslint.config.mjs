import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/**', 'out/**', 'node_modules/**'] },
  {
    files: ['extension/**/*.ts', 'test/**/*.ts', 'webview/**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: { '@typescript-eslint/require-await': 'off', 'no-console': 'off' },
  },
  { files: ['extension/cli/**/*.ts'], rules: { 'no-console': 'off' } },
  // A default export is what Pi calls.
  {
    files: ['extension/**/*.ts'],
    ignores: ['extension/pi/index.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'No default exports: a name should be searchable.' },
        { selector: 'ExportAllDeclaration', message: 'No barrels: import from where a thing is made.' },
      ],
    },
  },
);
