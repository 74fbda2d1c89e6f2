@echo off
rem Registers this folder's Astrolab for you: .astrolab files open in it, and so do astrolab:// links.
rem Run it again after moving the folder; "register.cmd --remove" takes it back.
if "%~1"=="--remove" goto remove
reg add "HKCU\Software\Classes\.astrolab" /ve /d "Astrolab.Runs" /f
reg add "HKCU\Software\Classes\Astrolab.Runs" /ve /d "Astrolab runs" /f
reg add "HKCU\Software\Classes\Astrolab.Runs\shell\open\command" /ve /d "\"%~dp0astrolab.exe\" \"%%1\"" /f
reg add "HKCU\Software\Classes\astrolab" /ve /d "URL:Astrolab" /f
reg add "HKCU\Software\Classes\astrolab" /v "URL Protocol" /d "" /f
reg add "HKCU\Software\Classes\astrolab\shell\open\command" /ve /d "\"%~dp0astrolab.exe\" \"%%1\"" /f
exit /b
:remove
reg delete "HKCU\Software\Classes\.astrolab" /f
reg delete "HKCU\Software\Classes\Astrolab.Runs" /f
reg delete "HKCU\Software\Classes\astrolab" /f
