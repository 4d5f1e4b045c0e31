// Words on buttons and links.
import { words } from './match.ts'

export const signInWords = words(
  `log in | login | log on | logon | sign in | signin | sign on | =enter | access account | log me in | let me in | open session
   anmelden | einloggen | login | anmeldung | zur anmeldung | se connecter | connexion | s'identifier | identification | connectez-vous | connecter
   iniciar sesión | inicia sesión | inicie sesión | inicio de sesión | =entrar | acceder | acceso | ingresar | identificarse | conectarse | accedi | =entra | accesso | effettua l'accesso | iniciar sessão | acessar | fazer login | =acesso
   inloggen | aanmelden | meld aan | log ind | logga in | logg inn | logg på | kirjaudu | sisäänkirjautuminen | zaloguj | logowanie | zalogować | přihlásit | přihlášení | prihlásiť
   войти | вход | =вход | авторизац | увійти | вхід | giriş | oturum aç | giriş yap | ログイン | サインイン | ログオン | 登录 | 登入 | 登錄 | 登陆 | 로그인 | 로그온 | bejelentkez | autentificare | conectare | σύνδεση | התחבר | تسجيل الدخول | đăng nhập | เข้าสู่ระบบ | masuk
   είσοδος | prijav | пријав | prisijung | pieslēg | ieiet | logi sisse | ورود | लॉग इन | साइन इन | შესვლა | մուտք | кіру | daxil ol | hasi saioa | inicia sessió | innskrá`,
)

export const nextWords = words(
  `next | continue | proceed | submit | =go | =ok | verify | confirm | validate | send | =send code | unlock | authenticate | =done | check code
   weiter | fortfahren | bestätigen | absenden | prüfen | senden | verifizieren | suivant | continuer | valider | vérifier | envoyer | confirmer | siguiente | continuar | enviar | verificar | confirmar | validar
   avanti | continua | invia | conferma | verifica | prosegui | seguinte | próximo | prosseguir | avançar | volgende | doorgaan | verder | verzenden | bevestigen | verifiëren
   nästa | fortsätt | skicka | verifiera | bekräfta | næste | fortsæt | bekræft | neste | fortsett | bekreft | seuraava | jatka | lähetä | vahvista | dalej | kontynuuj | potwierdź | wyślij | zweryfikuj | další | pokračovat | potvrdit | odeslat | ověřit
   далее | продолжить | подтвердить | отправить | проверить | далі | продовжити | підтвердити | надіслати | ileri | devam | gönder | onayla | doğrula
   次へ | 続行 | 続ける | 送信 | 確認 | 下一步 | 继续 | 繼續 | 提交 | 确认 | 確認 | 验证 | 다음 | 계속 | 제출 | 확인 | 인증 | تحقق | متابعة | التالي | إرسال | تأكيد
   tovább | continu | înainte | συνέχεια | επόμενο | tiếp tục | tiếp theo | ถัดไป | lanjut | berikutnya | ادامه | بعدی | המשך | הבא | напред | продължи | toliau | tęsti | tālāk | edasi | naprej | nastavi | davam | आगे`,
)

export const signUpWords = words(
  `sign up | signup | register | registration | create account | create an account | create your account | create a new account | create one | new account | get started | start free | start your free | try for free | try it free | free trial | join | new here | new user | don't have an account | no account | open an account | enroll | =trial
   registrieren | konto erstellen | konto anlegen | konto eröffnen | neues konto | noch kein konto | registrierung | kostenlos testen | jetzt starten | s'inscrire | inscription | créer un compte | créer mon compte | pas encore de compte | crear cuenta | crear una cuenta | regístrate | registrarse | registro | darse de alta
   iscriviti | registrati | crea account | crea un account | registrazione | criar conta | cadastre | cadastr | inscreva | registe-se | registrar | registreer | account aanmaken | account maken | skapa konto | registrera | bli medlem | opret | tilmeld | opprett | registrer | luo tili | rekisteröidy
   zarejestruj | załóż konto | utwórz konto | rejestracja | zaregistr | vytvořit účet | registrace | založit účet | зарегистр | регистрац | создать аккаунт | создать учет | зареєстр | створити | kaydol | kayıt | üye ol | hesap oluştur
   新規登録 | 会員登録 | アカウントを作成 | アカウント作成 | 登録する | 注册 | 註冊 | 创建账户 | 회원가입 | 가입 | 계정 만들기 | إنشاء حساب | تسجيل جديد
   εγγραφή | δημιουργία λογαριασμού | regisztr | înregistr | creează cont | cont nou | registr | daftar | đăng ký | สมัคร | ثبت نام | ثبت‌نام | הרשמ | qeydiyyat | რეგისტრაცია | тіркел | साइन अप | पंजीकरण | регистрира | reģistr`,
)

export const forgotWords = words(
  `forgot | forgotten | lost your password | lost password | reset | recover | can't access | trouble | can't sign in | can't log in | problems signing | need help | help | change password | =unlock account
   vergessen | zurücksetzen | probleme bei | hilfe | oublié | réinitialiser | problème | olvid | restablecer | recuperar | problemas | dimenticat | reimposta | recupera | ayuda | aiuto | esquec | redefinir | ajuda | vergeten | herstellen | glömt | återställ | glemt | nulstil | tilbakestill | unohd | palauta | nie pamiętam | zapomnia | przypomnij | zapomenut | zapomněl | obnovit
   забыли | забыл | восстанов | сброс | забули | відновити | unuttum | unuttunuz | sıfırla | 忘れ | リセット | 再設定 | 忘记 | 忘記 | 找回 | 重置 | 잊으 | 찾기 | 재설정 | نسيت
   elfelejt | ξεχάσ | ai uitat | quên mật khẩu | lupa | ลืม | فراموش | שכחת | забрав | zaborav | pozab | pamirš | aizmirs | unustasi | unut`,
)

export const logOutWords = words(
  `log out | logout | log off | logoff | sign out | signout | sign off | abmelden | ausloggen | logout | déconnexion | se déconnecter | déconnecter | cerrar sesión | =salir | desconectar | esci | disconnetti | terminar sessão | =sair | encerrar sessão
   uitloggen | afmelden | log uit | logga ut | log ud | logg ut | logg av | kirjaudu ulos | wyloguj | odhlásit | выйти | =выход | вийти | =вихід | çıkış | oturumu kapat | ログアウト | サインアウト | 退出 | 登出 | 注销 | 로그아웃 | kijelentkez | deconectare | αποσύνδεση | تسجيل الخروج | đăng xuất | keluar`,
)

export const accountWords = words(
  `my account | your account | my profile | profile | account settings | settings | preferences | dashboard | my orders | inbox | notifications | signed in as | logged in as | welcome back | mein konto | mein profil | profil | einstellungen | angemeldet als | mon compte | mon profil | paramètres | tableau de bord | connecté en tant
   mi cuenta | mi perfil | ajustes | configuración | il mio account | profilo | impostazioni | minha conta | perfil | configurações | definições | mijn account | profiel | instellingen | mitt konto | inställningar | min konto | min profil | indstillinger | innstillinger | oma tili | asetukset | moje konto | ustawienia | můj účet | nastavení
   мой профиль | личный кабинет | настройки | мій профіль | налаштування | hesabım | profilim | ayarlar | マイページ | 設定 | プロフィール | アカウント設定 | 个人中心 | 我的 | 设置 | 設定 | 내 계정 | 마이페이지 | 설정`,
)

/** Links that may lead to a login, if nothing clearer exists. */
export const perhapsLoginWords = words(
  `account | my account | member area | members | customer area | portal | admin | konto | mein konto | kundenbereich | mon compte | espace client | mi cuenta | área de clientes | area clienti | área do cliente | mijn account | mitt konto | min side | moje konto | můj účet | личный кабинет | кабінет | hesabım | マイページ | 会員 | 我的账户 | 个人中心 | 내 계정`,
)

/** Controls that a login never clicks. */
export const harmfulWords = words(
  `delete | remove | deny | decline | reject | refuse | revoke | disallow | cancel | abort | block | report | disable | deactivate | erase | destroy | wipe | close account | unsubscribe | buy | purchase | pay now | checkout | place order | transfer | donate | download | install | =no | =never | not me | this wasn't me | switch account | =back | go back | log out | sign out
   löschen | entfernen | ablehnen | verweigern | abbrechen | =nein | kündigen | kaufen | bezahlen | zurück | sperren | supprimer | refuser | rejeter | annuler | =non | retour | acheter | payer | eliminar | borrar | rechazar | denegar | cancelar | volver | comprar | pagar | elimina | rifiuta | nega | annulla | indietro | acquista
   excluir | apagar | recusar | negar | voltar | verwijderen | weigeren | afwijzen | annuleren | =nee | terug | kopen | radera | ta bort | neka | avbryt | =nej | tillbaka | slet | fjern | afvis | annuller | tilbage | slett | avslå | tilbake | poista | hylkää | peruuta | takaisin
   usuń | odrzuć | odmów | anuluj | =nie | wstecz | smazat | odmítnout | zrušit | =ne | zpět | удалить | отклонить | запретить | отмена | =нет | назад | видалити | відхилити | скасувати | =ні | sil | reddet | iptal | hayır | geri
   削除 | 拒否 | キャンセル | いいえ | 戻る | 删除 | 刪除 | 拒绝 | 取消 | 返回 | 삭제 | 거부 | 취소 | 아니요 | 뒤로`,
)

/** Declines a question. */
export const denyWords = words(
  `decline | deny | disagree | reject | refuse | don't allow | do not allow | cancel | =no | ablehnen | verweigern | nicht zustimmen | abbrechen | refuser | rejeter | annuler | rechazar | denegar | cancelar | no acepto | rifiuta | nega | annulla | recusar | negar | weigeren | afwijzen | annuleren | neka | avböj | avbryt | afvis | annuller | avslå | hylkää | peruuta | odrzuć | odmów | anuluj | odmítnout | zrušit | отклонить | отказаться | запретить | отмена | відхилити | скасувати | reddet | iptal | 拒否 | 同意しない | キャンセル | 拒绝 | 不同意 | 取消 | 거부 | 취소`,
)

export const termsWords = words(
  `terms | conditions | privacy policy | privacy notice | acceptable use | house rules | before you continue | agree to | have read | updated our | policy has changed | nutzungsbedingungen | geschäftsbedingungen | agb | datenschutz | zustimmen | gelesen | conditions d'utilisation | conditions générales | politique de confidentialité | avant de continuer | j'ai lu | términos | condiciones | política de privacidad | antes de continuar | he leído | termini | condizioni | informativa | prima di continuare | ho letto | termos | condições | antes de continuar | voorwaarden | privacybeleid | voordat je verdergaat | villkor | vilkår | käyttöehdot | warunki | regulamin | podmínky | souhlasím | условия | правила | согласен | умови | правила | погоджуюсь | koşul | şart | kullanım | 利用規約 | 規約 | 同意 | 条款 | 條款 | 协议 | 약관 | 동의`,
)

/** Agrees to continue. */
export const agreeWords = words(
  `=yes | allow | authorize | authorise | approve | accept | agree | continue | grant | =ok | next | proceed | stay signed in | got it | i understand | skip | not now | maybe later | remind me later | later | =done | =confirm
   =ja | erlauben | zulassen | autorisieren | genehmigen | akzeptieren | zustimmen | fortfahren | weiter | überspringen | nicht jetzt | später | =oui | autoriser | accepter | continuer | approuver | plus tard | ignorer | pas maintenant | =sí | =si | permitir | autorizar | aceptar | continuar | omitir | ahora no | más tarde
   consenti | autorizza | accetta | continua | salta | non ora | =sim | aceitar | ignorar | agora não | toestaan | accepteren | doorgaan | overslaan | niet nu | tillåt | godkänn | acceptera | fortsätt | hoppa över | inte nu | tillad | godkend | fortsæt | ikke nu | tillat | godta | fortsett | salli | hyväksy | jatka | ohita | ei nyt | =kyllä
   =tak | zezwól | zezwalaj | autoryzuj | akceptuj | kontynuuj | dalej | pomiń | nie teraz | =ano | povolit | souhlasím | přijmout | pokračovat | přeskočit | teď ne | =да | разрешить | принять | продолжить | пропустить | не сейчас | =так | дозволити | прийняти | продовжити | пропустити | =evet | izin ver | kabul | devam | atla | şimdi değil
   はい | 許可 | 承認 | 同意 | 続行 | スキップ | 後で | 是 | 允许 | 授权 | 同意 | 接受 | 继续 | 跳过 | 以后 | 예 | 허용 | 승인 | 동의 | 계속 | 건너뛰기 | 나중에`,
)

/** Skips an optional offer. */
export const skipWords = words(
  `skip | not now | maybe later | remind me later | later | no thanks | =no, thanks | ask me later | überspringen | nicht jetzt | später | plus tard | ignorer | pas maintenant | omitir | ahora no | más tarde | salta | non ora | più tardi | agora não | mais tarde | overslaan | niet nu | later | hoppa över | inte nu | ikke nu | spring over | hopp over | ohita | ei nyt | pomiń | nie teraz | později | přeskočit | пропустить | не сейчас | позже | пропустити | не зараз | atla | şimdi değil | daha sonra
   スキップ | 後で | 今はしない | 跳过 | 以后再说 | 稍后 | 건너뛰기 | 나중에`,
)

export const consentPageWords = words(
  `authorize | authorise | grant access | wants to access | wants access | would like to | is requesting | requesting permission | permission | allow access | would like permission | access your account | consent | share your | continue as | continue to | you are about to | signing in to | signed in as | you're signing
   zugriff | berechtigung | möchte auf | erlauben | autoris | souhaite accéder | permisos | solicita | desea acceder | autorizzare | vuole accedere | deseja acessar | permissão | toegang | machtiging | behörighet | åtkomst | adgang | tilgang | lupa | dostęp | zezwol | přístup | oprávnění | доступ | разреш | доступ | erişim | izin | アクセス | 許可 | 访问 | 授权 | 權限 | 액세스 | 권한`,
)

export const staySignedInWords = words(
  `stay signed in | stay logged in | keep me signed in | keep you signed in | remember this device | remember this browser | trust this device | trust this browser | save your login | save this browser | reduce the number of times | angemeldet bleiben | eingeloggt bleiben | gerät vertrauen | diesem gerät | rester connecté | appareil de confiance | cet appareil | mantener la sesión | mantener sesión | confiar en este | rimanere connesso | restare connessi | considera attendibile | continuar conectado | permanecer conectado | confiar neste | aangemeld blijven | ingelogd blijven | apparaat vertrouwen | förbli inloggad | fortsätta vara inloggad | lita på | forbliv logget | stol på | forbli pålogget | pysy kirjautuneena | luota tähän | nie wylogowuj | zaufaj | zůstat přihlášen | důvěřovat | оставаться в системе | доверять | залишатися | oturum açık | güven | サインインの状態を維持 | ログイン状態を維持 | 信頼 | 保持登录 | 保持登入 | 信任 | 로그인 상태 유지 | 신뢰`,
)

export const cookieWords = words(
  `cookie | cookies | gdpr | consent to the use | tracking | datenschutz | rgpd | privacy preferences | privacy settings | we value your privacy | クッキー | 쿠키`,
)
export const rejectCookieWords = words(
  `reject | decline | necessary | essential | only required | refuse | deny | without accepting | ablehnen | nur notwendige | nur essenzielle | notwendige | refuser | continuer sans accepter | rechazar | solo necesarias | rifiuta | solo necessari | rejeitar | recusar | weigeren | alleen noodzakelijk | neka | avvisa | endast nödvändiga | afvis | kun nødvendige | avslå | hylkää | vain välttämättömät | odrzuć | tylko niezbędne | odmítnout | jen nezbytné | отклонить | только необходимые | відхилити | reddet | 拒否 | 拒绝 | 거부`,
)
export const acceptCookieWords = words(
  `accept | allow | agree | got it | =ok | okay | understood | i understand | dismiss | close | akzeptieren | zustimmen | verstanden | einverstanden | accepter | j'accepte | d'accord | compris | aceptar | acepto | entendido | accetta | accetto | ho capito | aceitar | aceito | accepteren | akkoord | acceptera | godkänn | accepter | godkend | godta | hyväksy | akceptuj | zgadzam | rozumiem | přijmout | souhlasím | принять | согласен | понятно | прийняти | kabul | 同意 | 承諾 | 接受 | 동의 | 확인`,
)

export const switchWords = words(
  `another way | other way | different way | another method | other method | different method | other options | more options | more ways | other ways | choose another | choose a different | try another | use another | use a different | use something else | can't use | alternative | having trouble | other sign-in | other login | sign-in options | verify another way | i don't have | don't have access | no access to
   andere methode | andere option | auf andere weise | andere möglichkeit | weitere optionen | anders anmelden | autre méthode | autre moyen | autrement | une autre façon | otra forma | otro método | otra manera | más opciones | altro metodo | altro modo | un altro modo | outra forma | outro método | outra maneira | mais opções | andere manier | andere methode | annat sätt | en annan metod | anden måde | anden metode | annen måte | annen metode | toisella tavalla | toinen tapa | inny sposób | innej metody | inna metoda | jiným způsobem | jiná metoda | další možnosti | другой способ | другим способом | інший спосіб | başka bir yol | başka yöntem | diğer seçenek
   別の方法 | 他の方法 | その他の | 其他方式 | 其他方法 | 换一种 | 다른 방법 | 다른 방식`,
)

export const chooseWords = words(
  `choose | select | pick | which | switch to | continue as | your accounts | your organisations | your organizations | wählen | auswählen | welche | choisir | choisissez | sélectionn | quel | elegir | elige | selecciona | escoge | scegli | seleziona | escolh | selecion | kies | selecteer | välj | vælg | velg | valitse | wybierz | vyberte | zvolte | выберите | оберіть | виберіть | seçin | seç | 選択 | 選んで | 选择 | 選擇 | 선택`,
)

export const accountNounWords = words(
  `account | profile | user | identity | organisation | organization | company | workspace | tenant | team | school | source | realm | directory | domain | role | household | konto | profil | benutzer | organisation | unternehmen | firma | mandant | compte | entreprise | espace | cuenta | perfil | organización | empresa | azienda | organizzazione | conta | organização | account | organisatie | bedrijf | företag | virksomhed | bedrift | tili | organisaatio | yritys | firma | organizacj | účet | společnost | аккаунт | учетн | организац | компани | обліков | hesap | kuruluş | şirket | アカウント | 組織 | 会社 | 账户 | 账号 | 帳號 | 组织 | 公司 | 계정 | 조직 | 회사`,
)

export const withWords = words(
  `sign in with | log in with | login with | signin with | continue with | connect with | sign in using | log in using | use your | with your | sign in via | log in via | via | mit | über | weiter mit | anmelden mit | einloggen mit | avec | via | se connecter avec | continuer avec | con | iniciar sesión con | continuar con | acceder con | accedi con | continua con | com | entrar com | continuar com | met | inloggen met | doorgaan met | med | logga in med | fortsätt med | log ind med | fortsæt med | logg inn med | fortsett med | kirjaudu | jatka | käyttäen | przez | za pomocą | zaloguj się przez | kontynuuj z | přes | pomocí | přihlásit se přes | pokračovat | через | с помощью | войти через | продовжити з | за допомогою | ile | ile giriş | ile devam | で続行 | でログイン | でサインイン | 使用 | 通过 | 用 | 로 로그인 | 으로 로그인 | 로 계속 | 으로 계속`,
)

export const passkeyWords = words(
  `passkey | pass key | security key | webauthn | fido | yubikey | hardware key | usb key | touch id | face id | windows hello | biometric | fingerprint | sicherheitsschlüssel | hauptschlüssel | fingerabdruck | clé d'accès | clé de sécurité | clave de acceso | llave de seguridad | clave de seguridad | chiave di sicurezza | chiave di accesso | chave de acesso | chave de segurança | beveiligingssleutel | toegangssleutel | säkerhetsnyckel | nyckel | adgangsnøgle | sikkerhedsnøgle | sikkerhetsnøkkel | tilgangsnøkkel | suojausavain | avainkoodi | klucz | bezpečnostní klíč | přístupový klíč | ключ доступа | ключ безопасности | ключ | geçiş anahtarı | güvenlik anahtarı | パスキー | セキュリティキー | セキュリティ キー | 通行密钥 | 安全密钥 | 安全金鑰 | 패스키 | 보안 키`,
)

export const resendWords = words(
  `resend | re-send | send again | send a new | new code | didn't receive | did not receive | get a new code | request a new | erneut senden | neuen code | nicht erhalten | renvoyer | nouveau code | pas reçu | reenviar | nuevo código | no recib | invia di nuovo | reinvia | nuovo codice | novo código | opnieuw verzenden | nieuwe code | skicka igen | ny kod | send igen | ny kode | send på nytt | lähetä uudelleen | uusi koodi | wyślij ponownie | nowy kod | znovu odeslat | poslat znovu | nový kód | отправить еще | отправить повторно | новый код | надіслати ще | tekrar gönder | yeni kod | 再送 | 新しいコード | 重新发送 | 重新發送 | 新验证码 | 다시 보내기 | 재전송`,
)
