REPLACE-ME: the AuthKey file of the Apple developer account (PKCS#8, PEM)
